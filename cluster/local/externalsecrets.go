package local

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// ExternalSecretsNamespace is where the External Secrets controller has its ServiceAccount.
const ExternalSecretsNamespace = "external-secrets"

// externalSecretsName names the controller's ServiceAccount and roles.
const externalSecretsName = "external-secrets"

// externalSecretsRBAC is the identity of the External Secrets controller.
//
//go:embed externalsecrets.yaml
var externalSecretsRBAC []byte

// externalSecretsCRDs are the kinds that the controller reconciles. Its bundle holds many more, each of which costs start-up time.
var externalSecretsCRDs = []string{
	"clustersecretstores.external-secrets.io",
	"externalsecrets.external-secrets.io",
	"secretstores.external-secrets.io",
	// Looked at in every synchronisation, although nothing here generates anything.
	"generatorstates.generators.external-secrets.io",
}

// startExternalSecrets installs the External Secrets CRDs and runs the controller.
func (p *Plane) startExternalSecrets(ctx context.Context) error {
	module, err := toolchain.ModuleDir(ctx, toolchain.ExternalSecretsModule)
	if err != nil {
		return err
	}
	bundle, err := os.ReadFile(filepath.Join(module, "deploy", "crds", "bundle.yaml"))
	if err != nil {
		return fmt.Errorf("cannot read CRDs of External Secrets: %w", err)
	}
	var crds [][]byte
	for doc := range bytes.SplitSeq(bundle, []byte("\n---\n")) {
		// The bundle is large: only what is installed is parsed.
		if slices.ContainsFunc(externalSecretsCRDs, func(name string) bool { return bytes.Contains(doc, []byte("\n  name: "+name+"\n")) }) {
			crds = append(crds, doc)
		}
	}
	if err := p.createCRDs(ctx, crds...); err != nil {
		return err
	}
	if err := p.Apply(ctx, externalSecretsRBAC); err != nil {
		return err
	}
	kubeconfig, err := p.ServiceAccountKubeconfig(ctx, ExternalSecretsNamespace, externalSecretsName)
	if err != nil {
		return err
	}
	port, err := freePorts(1)
	if err != nil {
		return err
	}
	health := fmt.Sprintf("127.0.0.1:%d", port[0])
	c, err := p.run(toolchain.ExternalSecrets, toolchain.ExternalSecrets, []string{"KUBECONFIG=" + kubeconfig},
		"--health-probe-bind-address="+health)
	if err != nil {
		return err
	}
	if err := c.Wait(ctx, func(ctx context.Context) error { return get(ctx, "http://"+health+"/readyz") }); err != nil {
		return err
	}
	p.ready("external-secrets")
	return nil
}
