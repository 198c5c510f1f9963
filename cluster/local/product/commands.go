package product

import (
	"fmt"

	"github.com/ryuvia/provider-terdut/cluster/local"
)

// ListTeams is the shell command that lists the teams on an on-call server inside the cluster, with the credential that is in a Secret of
// Crossplane's namespace. It needs kubectl and curl.
func (p *Product) ListTeams(secret, endpoint string) string {
	return fmt.Sprintf(`curl -sS -x %s -H "Authorization: Bearer $(kubectl -n %s get secret %s -o go-template='{{.data.token | base64decode}}')" %s/api/teams`,
		p.Servers.ProxyURL(), local.SystemNamespace, secret, endpoint)
}

// ShowWebhook is the shell command that shows the URL in the Secret of an Integration. It needs kubectl.
func ShowWebhook(namespace, secret string) string {
	return fmt.Sprintf(`kubectl -n %s get secret %s -o go-template='{{.data.url | base64decode}}{{"\n"}}'`, namespace, secret)
}
