package runkit

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/client-go/rest"
)

// identify asks the API server once who this process is, and logs what follows if it is no ServiceAccount of the namespace: the
// admission policies take it for a person.
func identify(ctx context.Context, impatient *rest.Config, o options, log logr.Logger) string {
	user, err := whoAmI(ctx, impatient)
	switch {
	case err != nil:
		log.Info("the API server does not say who this process is", "error", err.Error())
	case !o.observe && !strings.HasPrefix(user, "system:serviceaccount:"+o.namespace+":"):
		log.Info("this process is no ServiceAccount of the namespace: the admission policies take it for a person, and refuse deletions "+
			"that belong to an upgrade and to repairs. Run it with the token of its own ServiceAccount (kubectl create token)",
			"user", user, "namespace", o.namespace)
	}
	return user
}

func whoAmI(ctx context.Context, config *rest.Config) (string, error) {
	c, err := authentication.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("building the client that asks who this process is: %w", err)
	}
	review, err := c.SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("asking who this process is: %w", err)
	}
	return review.Status.UserInfo.Username, nil
}
