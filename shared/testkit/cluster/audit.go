package cluster

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
)

const (
	auditPolicyFile = "audit-policy.yaml"
	auditLogFile    = "audit.log"
)

const defaultAuditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

// Request is one request that the API server answered, as its audit log has it.
type Request struct {
	// User is the full name, such as system:serviceaccount:<namespace>:<name>.
	User string
	// Verb is RBAC's word: get, list, watch, create, update, patch, delete, deletecollection.
	Verb string
	// Group is empty for the core group, and Resource empty for a path such as /healthz. A subresource follows after a
	// slash.
	Group, Resource string
	// Namespace and Name are empty where the request has none.
	Namespace, Name string
	// Code is the HTTP status of the answer.
	Code int
}

// auditEvent has the fields of audit.k8s.io/v1 Event that Request needs.
type auditEvent struct {
	AuditID string
	Verb    string
	User    struct{ Username string }

	ObjectRef      struct{ APIGroup, Resource, Subresource, Namespace, Name string }
	ResponseStatus struct{ Code int }
}

// AuditedRequests returns every request that has been answered so far, in the log's order. A watch counts from its
// start. The log trails the answers by moments: poll for what is expected to be in it. It is an error when the cluster
// was started without Audit.
func (c *Cluster) AuditedRequests() ([]Request, error) {
	if !c.options.Audit {
		return nil, errors.New("this cluster keeps no audit log: start it with Audit")
	}
	data, err := os.ReadFile(c.path(auditLogFile))
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return parseAudit(data)
}

func parseAudit(data []byte) ([]Request, error) {
	data = data[:bytes.LastIndexByte(data, '\n')+1] // the last line may still be being written
	seen := map[string]bool{}                       // a watch is logged at its start and at its end
	var requests []Request
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var event auditEvent
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, fmt.Errorf("parsing the audit log: %w", err)
		}
		if seen[event.AuditID] {
			continue
		}
		seen[event.AuditID] = true
		requests = append(requests, event.request())
	}
	return slices.Clip(requests), lines.Err()
}

func (e auditEvent) request() Request {
	resource := e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		resource += "/" + e.ObjectRef.Subresource
	}
	return Request{
		User: e.User.Username, Verb: e.Verb, Group: e.ObjectRef.APIGroup, Resource: resource,
		Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name, Code: e.ResponseStatus.Code,
	}
}
