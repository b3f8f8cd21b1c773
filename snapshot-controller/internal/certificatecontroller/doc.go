// Package certificatecontroller makes the verdicts of package certificate true: the leader keeps the webhook's certificate in a
// Secret and the webhook configurations trusting it; every process reads the Secret and serves what is in it.
//
// Where another program keeps the Secret and the trust, such as cert-manager, only the reading is left.
//
// Secret and configurations come with the deployment. If they are missing nothing is created, and the API server calls no webhook.
package certificatecontroller
