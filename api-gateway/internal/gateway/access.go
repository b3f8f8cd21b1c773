package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// trustedApps are the values of the label app of the pods that need no token: the clients that cannot send a token. The NetworkPolicy
// lets in the same pods.
var trustedApps = []string{"longhorn-csi-plugin", "longhorn-driver-deployer", "longhorn-ui"}

// fieldAddress finds the pods of trusted apps by their IP addresses.
const fieldAddress = "gateway.address"

// isTrusted reports whether the client is a pod of Longhorn's namespace that needs no token.
func (s *server) isTrusted(ctx context.Context, address string) bool {
	var list corev1.PodList
	err := lookup.ListShared(ctx, s.reader.cache, s.reader.namespace, &list, client.MatchingFields{fieldAddress: address})
	return err == nil && len(list.Items) > 0
}

// addressesOf returns the IP addresses that identify a pod of a trusted app. An address of the host's network belongs to all
// processes of the host, and an ended pod's address may belong to another pod.
func addressesOf(pod *corev1.Pod) []string {
	if !slices.Contains(trustedApps, pod.Labels["app"]) || pod.Spec.HostNetwork || pod.Status.Phase == corev1.PodSucceeded ||
		pod.Status.Phase == corev1.PodFailed {
		return nil
	}
	var out []string
	for _, ip := range pod.Status.PodIPs {
		out = append(out, ip.IP)
	}
	return out
}

// The limits of reviews: a result counts for a moment, so that a client that polls costs little. A flood of tokens must not use up the
// requests that the gateway may send to the API server.
const (
	reviewedFor      = 10 * time.Second
	mostReviewed     = 1024
	reviewsPerSecond = 10
	reviewBurst      = 20
	mostToken        = 16 << 10
)

// reviews has the API server check tokens, and what their accounts may do.
type reviews struct {
	client    client.Client
	audience  string
	namespace string
	limit     *rate.Limiter
	clock     clock.PassiveClock
	known     *utilcache.LRUExpireCache
}

func newReviews(c client.Client, audience, namespace string, clock clock.Clock) *reviews {
	return &reviews{client: c, audience: audience, namespace: namespace, limit: rate.NewLimiter(reviewsPerSecond, reviewBurst), clock: clock,
		known: utilcache.NewLRUExpireCacheWithClock(mostReviewed, clock)}
}

// reviewed is the result of a review: who sent the token, and why he may not do what he asked for.
type reviewed struct {
	user    string
	refusal error
}

// check returns the user of a token, or an error with the status of a refusal.
func (r *reviews) check(ctx context.Context, token string, wanted authorizationv1.ResourceAttributes) (string, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "%s %+v", token, wanted))
	if known, ok := r.known.Get(key); ok {
		return known.(reviewed).user, known.(reviewed).refusal
	}
	if len(token) > mostToken {
		return "", wire.WithStatus(http.StatusUnauthorized, errors.New("the token is too long"))
	}
	if !r.limit.AllowN(r.clock.Now(), 1) {
		return "", wire.WithStatus(http.StatusTooManyRequests, errors.New("more tokens than may be checked at once: try again"))
	}
	result, err := r.ask(ctx, token, wanted)
	if err != nil {
		return "", wire.WithStatus(http.StatusServiceUnavailable, fmt.Errorf("the API server did not check the token: %w", err))
	}
	r.known.Add(key, result, reviewedFor)
	return result.user, result.refusal
}

// ask has the API server check a token, and then whether its user has the wanted access.
func (r *reviews) ask(ctx context.Context, token string, wanted authorizationv1.ResourceAttributes) (reviewed, error) {
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: []string{r.audience}}}
	if err := r.client.Create(ctx, review); err != nil {
		return reviewed{}, fmt.Errorf("reviewing a token: %w", err)
	}
	if !review.Status.Authenticated || !slices.Contains(review.Status.Audiences, r.audience) {
		return reviewed{refusal: wire.WithStatus(http.StatusUnauthorized, fmt.Errorf("the API server does not accept the token for %s: "+
			"create a token with kubectl create token <account> --audience=%s", r.audience, r.audience))}, nil
	}
	user := review.Status.User
	if wanted.Resource == "" {
		return reviewed{user: user.Username}, nil
	}
	extra := map[string]authorizationv1.ExtraValue{}
	for name, values := range user.Extra {
		extra[name] = authorizationv1.ExtraValue(values)
	}
	access := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user.Username, Groups: user.Groups,
		UID: user.UID, Extra: extra, ResourceAttributes: &wanted}}
	if err := r.client.Create(ctx, access); err != nil {
		return reviewed{}, fmt.Errorf("reviewing the access of %s: %w", user.Username, err)
	}
	out := reviewed{user: user.Username}
	if !access.Status.Allowed || access.Status.Denied {
		out.refusal = wire.WithStatus(http.StatusForbidden, fmt.Errorf("%s may not %s %s in namespace %s: a Role must allow it", user.Username,
			wanted.Verb, strings.TrimSuffix(wanted.Resource+"."+wanted.Group, "."), wanted.Namespace))
	}
	return out, nil
}

// authenticate returns the user of a request, empty for pods that need no token, or why the request is refused.
func (s *server) authenticate(hr *http.Request) (string, error) {
	if !s.options.RequireTokens || s.isTrusted(hr.Context(), hostOf(hr.RemoteAddr)) {
		return "", nil
	}
	token, found := strings.CutPrefix(hr.Header.Get("Authorization"), "Bearer ")
	switch {
	case hr.TLS == nil:
		return "", wire.WithStatus(http.StatusUnauthorized, fmt.Errorf("clients other than pods of %s need TLS and a token: ask the "+
			"address of --tls-listen-address", strings.Join(trustedApps, ", ")))
	case !found || token == "":
		return "", wire.WithStatus(http.StatusUnauthorized, fmt.Errorf("send a token as Authorization: Bearer; create it with "+
			"kubectl create token <account> --audience=%s", s.options.TokenAudience))
	}
	ctx, cancel := context.WithTimeout(hr.Context(), handleTimeout)
	defer cancel()
	return s.reviews.check(ctx, token, wantedBy(hr, s.reader.namespace))
}

// wantedBy returns the access that an account must have with kubectl to send a request. A path without a resource, as the schemas, is for
// every account.
func wantedBy(hr *http.Request, namespace string) authorizationv1.ResourceAttributes {
	parts := strings.Split(strings.Trim(hr.URL.Path, "/"), "/")
	if len(parts) < 2 || parts[0] != wire.Version || parts[1] == "schemas" || parts[1] == "apiversions" {
		return authorizationv1.ResourceAttributes{}
	}
	out := authorizationv1.ResourceAttributes{Namespace: namespace, Group: v1beta2.GroupVersion.Group, Resource: parts[1]}
	if parts[1] == "ws" {
		out.Resource, out.Verb = parts[len(parts)-1], "watch"
	}
	switch out.Resource {
	case "disktags", "nodetags":
		out.Resource = "nodes"
	case "events":
		out.Group = corev1.GroupName
	}
	switch {
	case out.Verb != "":
		return out
	case len(parts) > 2:
		out.Name = parts[2]
	}
	switch {
	case hr.Method == http.MethodDelete:
		out.Verb = "delete"
	case !isRead(hr) && out.Name == "":
		out.Verb = "create"
	case !isRead(hr):
		out.Verb = "update"
	case out.Name == "":
		out.Verb = "list"
	default:
		out.Verb = "get"
	}
	return out
}

// byAddress is the index of trusted pods.
func byAddress() kube.Index { return kube.IndexByEach(&corev1.Pod{}, fieldAddress, addressesOf) }
