package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
)

// tokenSeconds is how long a token is valid: longer than any plane runs, since nothing renews it as a kubelet would.
const tokenSeconds = 30 * 24 * 60 * 60

// ServiceAccountConfig returns a client configuration with a new token of an existing ServiceAccount and nothing else: it can do what
// the ServiceAccount's roles allow.
func (p *Plane) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	req := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](tokenSeconds)}}
	if err := p.client.SubResource("token").Create(ctx, sa, req); err != nil {
		return nil, fmt.Errorf("cannot request token of ServiceAccount \"%s/%s\": %w", namespace, name, err)
	}
	cfg := p.Config()
	cfg.BearerToken = req.Status.Token
	return cfg, nil
}

// ServiceAccountKubeconfig writes what ServiceAccountConfig returns to a kubeconfig in the plane's folder, with the ServiceAccount's
// namespace as the default one, and returns its path. Functions may change the configuration before it is written, for example to lead
// through a proxy.
func (p *Plane) ServiceAccountKubeconfig(ctx context.Context, namespace, name string, change ...func(*rest.Config) error) (string, error) {
	cfg, err := p.ServiceAccountConfig(ctx, namespace, name)
	if err != nil {
		return "", err
	}
	for _, f := range change {
		if err := f(cfg); err != nil {
			return "", err
		}
	}
	path := filepath.Join(p.Dir, "kubeconfigs", namespace+"-"+name)
	return path, writeKubeconfig(cfg, namespace, path)
}

// writeKubeconfig writes a client configuration that authenticates with a token.
func writeKubeconfig(cfg *rest.Config, namespace, path string) error {
	k := clientcmdapi.NewConfig()
	k.Clusters["local"] = &clientcmdapi.Cluster{Server: cfg.Host, CertificateAuthorityData: cfg.CAData}
	k.AuthInfos["local"] = &clientcmdapi.AuthInfo{Token: cfg.BearerToken}
	k.Contexts["local"] = &clientcmdapi.Context{Cluster: "local", AuthInfo: "local", Namespace: namespace}
	k.CurrentContext = "local"
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot create kubeconfig folder: %w", err)
	}
	if err := clientcmd.WriteToFile(*k, path); err != nil {
		return fmt.Errorf("cannot write kubeconfig: %w", err)
	}
	return nil
}
