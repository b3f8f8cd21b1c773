// Package certificatecontroller makes the verdicts of package certificate true: the leader keeps the webhook's certificate in a
// Secret and the webhook configurations trusting it; every process reads the Secret and serves what is in it.
//
// Secret and configurations come with the deployment. Where they are missing nothing is made, and the API server asks nobody.
package certificatecontroller
