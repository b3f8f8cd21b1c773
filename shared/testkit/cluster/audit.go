package cluster

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
