package certificatecontroller

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/status"
	"drover.dev/drover/snapshot-controller/internal/certificate"
)

// Keys of the Secret.
const (
	servingCertificate = "tls.crt"
	servingKey         = "tls.key"
	nextCertificate    = "next.crt"
	nextKey            = "next.key"
	previousKey        = "previous.crt"
)

func servingIn(s *corev1.Secret) certificate.Pair {
	return certificate.Pair{Certificate: s.Data[servingCertificate], Key: s.Data[servingKey]}
}

func nextIn(s *corev1.Secret) certificate.Pair {
	return certificate.Pair{Certificate: s.Data[nextCertificate], Key: s.Data[nextKey]}
}

// apply does the step. What is written into the Secret is bound to the version that was evaluated.
func (k *keeper) apply(ctx context.Context, s *seen, v certificate.Verdict) error {
	switch v.Step {
	case certificate.StepTrust:
		return k.trust(ctx, s, v.Bundle)
	case certificate.StepPromote:
		return k.write(ctx, s.secret, map[string]any{
			servingCertificate: s.world.Next.Certificate, servingKey: s.world.Next.Key,
			nextCertificate: nil, nextKey: nil, previousKey: s.world.Serving.Certificate,
		})
	}
	made, err := certificate.Issue(rand.Reader, s.world.Hosts, s.world.Now, s.world.Validity)
	if err != nil {
		return err
	}
	if v.Step == certificate.StepIssueNext {
		return k.write(ctx, s.secret, map[string]any{nextCertificate: made.Certificate, nextKey: made.Key, previousKey: nil})
	}
	return k.write(ctx, s.secret, map[string]any{
		servingCertificate: made.Certificate, servingKey: made.Key, nextCertificate: nil, nextKey: nil, previousKey: nil,
	})
}

func (k *keeper) write(ctx context.Context, secret *corev1.Secret, data map[string]any) error {
	if err := status.Merge(ctx, k.rt.Client, secret, "data", data, status.AtVersion()); err != nil {
		return fmt.Errorf("writing the webhook's certificate: %w", err)
	}
	k.written.Record(secret)
	return nil
}

// trust writes the bundle into those configurations of which a webhook trusts something else.
func (k *keeper) trust(ctx context.Context, s *seen, bundle []byte) error {
	other := func(is []byte) bool { return !bytes.Equal(is, bundle) }
	if c := s.mutating; c != nil && slices.ContainsFunc(mutatingBundles(c), other) {
		var names []string
		for _, w := range c.Webhooks {
			names = append(names, w.Name)
		}
		if err := k.trustIn(ctx, c, names, bundle); err != nil {
			return err
		}
	}
	if c := s.validating; c != nil && slices.ContainsFunc(validatingBundles(c), other) {
		var names []string
		for _, w := range c.Webhooks {
			names = append(names, w.Name)
		}
		return k.trustIn(ctx, c, names, bundle)
	}
	return nil
}

// trustIn changes the bundle and nothing else, of the webhooks that were seen.
func (k *keeper) trustIn(ctx context.Context, configuration client.Object, webhooks []string, bundle []byte) error {
	var patch status.JSONPatch
	for i, name := range webhooks {
		at := fmt.Sprintf("/webhooks/%d", i)
		patch.Test(at+"/name", name)
		patch.Add(at+"/clientConfig/caBundle", bundle)
	}
	if err := patch.Write(ctx, k.rt.Client, configuration); err != nil {
		return fmt.Errorf("letting the API server trust the webhook's certificate: %w", err)
	}
	k.written.Record(configuration)
	return nil
}
