package local

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"

	"github.com/ryuvia/provider-terdut/cluster/local/process"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// controllers of the controller manager that make sense without nodes. Fewer controllers start faster.
var controllers = []string{
	"clusterrole-aggregation-controller",
	"deployment-controller",
	"garbage-collector-controller",
	"namespace-controller",
	"replicaset-controller",
	"serviceaccount-controller",
}

// startAPIServer starts etcd and kube-apiserver and writes the administrator's kubeconfig.
func (p *Plane) startAPIServer(ctx context.Context, more []string) error {
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	etcdURL, peerURL, port := local("http", ports[0]), local("http", ports[1]), ports[2]

	etcd, err := p.run(toolchain.Etcd, toolchain.Etcd, nil,
		"--data-dir="+filepath.Join(p.Dir, "etcd"),
		"--listen-client-urls="+etcdURL, "--advertise-client-urls="+etcdURL,
		"--listen-peer-urls="+peerURL, "--initial-advertise-peer-urls="+peerURL, "--initial-cluster=default="+peerURL,
		// Nothing has to survive a crash of the machine.
		"--unsafe-no-fsync",
	)
	if err != nil {
		return err
	}
	keys, err := p.writeKeys(port)
	if err != nil {
		return err
	}
	if err := etcd.Wait(ctx, func(ctx context.Context) error { return get(ctx, etcdURL+"/readyz") }); err != nil {
		return err
	}
	p.ready("etcd")

	server, err := p.run(toolchain.KubeAPIServer, toolchain.KubeAPIServer, []string{
		// It is what costs most on a plane, a quarter of it for collecting garbage, and memory is there.
		"GOGC=400",
	}, append([]string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		// A loopback address is no valid endpoint of the kubernetes Service, which nothing here uses.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--tls-cert-file=" + keys.cert, "--tls-private-key-file=" + keys.key,
		"--token-auth-file=" + keys.tokens,
		"--authorization-mode=RBAC",
		// It would refuse pods of namespaces whose ServiceAccount does not exist yet; there are no pods.
		"--disable-admission-plugins=ServiceAccount",
		// The defaults are for more cores. With a hundred requests at once on two, what delivers watches waits for its turn with all of them, and
		// every controller decides from what was true seconds ago.
		fmt.Sprintf("--max-requests-inflight=%d", min(readsPerCore*runtime.GOMAXPROCS(0), 400)),
		fmt.Sprintf("--max-mutating-requests-inflight=%d", min(writesPerCore*runtime.GOMAXPROCS(0), 200)),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file=" + keys.serviceAccount, "--service-account-key-file=" + keys.serviceAccount,
	}, more...)...)
	if err != nil {
		return err
	}
	httpClient, err := rest.HTTPClientFor(p.config)
	if err != nil {
		return fmt.Errorf("cannot create HTTP client of kube-apiserver: %w", err)
	}
	err = server.Wait(ctx, func(ctx context.Context) error { return getWith(ctx, httpClient, p.config.Host+"/readyz") })
	if err != nil {
		return err
	}
	p.ready("kube-apiserver")
	return nil
}

// Requests that the API server serves at once for each core; others wait in its queues.
const (
	readsPerCore  = 8
	writesPerCore = 4
)

// startControllerManager starts kube-controller-manager with the controllers that make sense without nodes.
func (p *Plane) startControllerManager(ctx context.Context) error {
	port, err := process.FreePort()
	if err != nil {
		return err
	}
	m, err := p.run(toolchain.KubeControllerManager, toolchain.KubeControllerManager, nil,
		"--kubeconfig="+p.Kubeconfig,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--leader-elect=false",
		"--controllers="+strings.Join(controllers, ","),
	)
	if err != nil {
		return err
	}
	httpClient := &http.Client{Transport: insecureTransport()}
	err = m.Wait(ctx, func(ctx context.Context) error { return getWith(ctx, httpClient, local("https", port)+"/healthz") })
	if err != nil {
		return err
	}
	p.ready("kube-controller-manager")
	return nil
}

// keyFiles are the paths of what kube-apiserver proves and checks identities with.
type keyFiles struct{ cert, key, tokens, serviceAccount string }

// writeKeys makes new keys for kube-apiserver and the administrator's kubeconfig.
func (p *Plane) writeKeys(port int) (keyFiles, error) {
	dir := filepath.Join(p.Dir, "kube-apiserver")
	keys := keyFiles{
		cert: filepath.Join(dir, "tls.crt"), key: filepath.Join(dir, "tls.key"),
		tokens: filepath.Join(dir, "tokens.csv"), serviceAccount: filepath.Join(dir, "service-account.key"),
	}
	tlsCert, tlsKey, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost"})
	if err != nil {
		return keys, fmt.Errorf("cannot generate certificate of kube-apiserver: %w", err)
	}
	saKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return keys, fmt.Errorf("cannot generate ServiceAccount key: %w", err)
	}
	saPEM := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(saKey)})
	token := rand.Text()

	if err := os.MkdirAll(dir, 0o755); err != nil {
		return keys, fmt.Errorf("cannot create key folder: %w", err)
	}
	for path, data := range map[string][]byte{
		keys.cert:           tlsCert,
		keys.key:            tlsKey,
		keys.tokens:         []byte(token + ",admin,admin,system:masters\n"),
		keys.serviceAccount: saPEM,
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return keys, fmt.Errorf("cannot write key: %w", err)
		}
	}
	p.config = &rest.Config{
		Host: local("https", port), BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: tlsCert},
		QPS: -1,
	}
	return keys, writeKubeconfig(p.config, "", p.Kubeconfig)
}
