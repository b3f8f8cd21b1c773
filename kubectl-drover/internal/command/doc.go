// Package command has the commands of kubectl drover, one file each. A command observes (cluster), derives a report by a pure function
// (why, status, tree, doctor …), and prints it (terminal). The frame is common: kubeconfig, namespace, output, exit codes, completion.
package command
