// Command tiny is what the tests make images of.
package main

func main() { println("tiny") }
