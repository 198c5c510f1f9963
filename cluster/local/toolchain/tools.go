package toolchain

// A tool is an executable that is built from a package of one of the tool modules below cluster/tools.
type tool struct {
	// module is the folder of the tool module below cluster/tools.
	module string
	// pkg is the main package, as go build names it inside that module.
	pkg string
	// hollow, when set, is built as if some packages of it were empty.
	hollow *hollow
}

// A hollow module is a Go module of which some packages import much that is not needed, for their side effects only.
type hollow struct {
	module   string
	packages []string
}

// Names of the executables that the local control plane runs, in the order in which it needs them.
const (
	Etcd                  = "etcd"
	KubeAPIServer         = "kube-apiserver"
	KubeControllerManager = "kube-controller-manager"
	Kubectl               = "kubectl"
	Crossplane            = "crossplane"
	KVServer              = "kv-server"
	ExternalSecrets       = "external-secrets"
	CrossplaneCLI         = "crossplane-cli"
	PromQL                = "promql"
)

// Names of the modules that tell the versions in use; see ModuleDir.
const (
	CrossplaneModule      = "github.com/crossplane/crossplane/v2"
	ExternalSecretsModule = "github.com/external-secrets/external-secrets"
	// Nothing of these is built: their CustomResourceDefinitions are what a TerdutServer meets in a cluster.
	CloudNativePGModule = "github.com/cloudnative-pg/cloudnative-pg"
	GatewayAPIModule    = "sigs.k8s.io/gateway-api"
	ZalandoModule       = "github.com/zalando/postgres-operator"
)

// tools by name.
var tools = map[string]tool{
	Etcd:                  {module: "kubernetes", pkg: "go.etcd.io/etcd/server/v3"},
	KubeAPIServer:         {module: "kubernetes", pkg: "k8s.io/kubernetes/cmd/kube-apiserver"},
	KubeControllerManager: {module: "kubernetes", pkg: "k8s.io/kubernetes/cmd/kube-controller-manager"},
	Kubectl:               {module: "kubernetes", pkg: "k8s.io/kubernetes/cmd/kubectl"},
	Crossplane:            {module: "kubernetes", pkg: CrossplaneModule + "/cmd/crossplane"},
	KVServer:              {module: "openbao", pkg: "."},
	ExternalSecrets:       {module: "externalsecrets", pkg: ".", hollow: &externalSecrets},
	CrossplaneCLI:         {module: "crossplane-cli", pkg: "github.com/crossplane/cli/v2/cmd/crossplane"},
	PromQL:                {module: "prometheus", pkg: "."},
	"controller-gen":      {module: "generate", pkg: "sigs.k8s.io/controller-tools/cmd/controller-gen"},
	"angryjet":            {module: "generate", pkg: "github.com/crossplane/crossplane-tools/cmd/angryjet"},
	"golangci-lint":       {module: "lint", pkg: "github.com/golangci/golangci-lint/v2/cmd/golangci-lint"},
}

// externalSecrets links the SDK of every cloud it can talk to through these two packages, and with them builds for many minutes more.
// Our own main registers the providers that it wants.
var externalSecrets = hollow{
	module:   ExternalSecretsModule,
	packages: []string{"pkg/generator/register", "pkg/provider/register"},
}

// moduleOf names the tool module that requires a Go module.
var moduleOf = map[string]string{
	CrossplaneModule:      "kubernetes",
	ExternalSecretsModule: "externalsecrets",
	CloudNativePGModule:   "neighbours",
	GatewayAPIModule:      "neighbours",
	ZalandoModule:         "neighbours",
}

// linkFlags go into every tool. Without the version variables kube-apiserver says that it is v0.0.0 and clients that look at the
// version misbehave. The RBAC manager of Crossplane has no flag for its metrics address and would take port 8080 of every
// interface, once per machine; turning off controller-runtime's default lets several planes run side by side.
const linkFlags = "-s -w" +
	" -X k8s.io/component-base/version.gitVersion=v1.35.4" +
	" -X k8s.io/component-base/version.gitMajor=1" +
	" -X k8s.io/component-base/version.gitMinor=35" +
	" -X k8s.io/component-base/version.gitTreeState=clean" +
	" -X sigs.k8s.io/controller-runtime/pkg/metrics/server.DefaultBindAddress=0"
