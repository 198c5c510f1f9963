package child

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// A Kind of child and how it is reconciled.
type Kind[T setup.Object] struct {
	GVK       schema.GroupVersionKind
	Object    T
	NewList   func() resource.ManagedList
	Connector func(setup.Options, client.Client, event.Recorder) managed.TypedExternalConnector[T]
}

// Setup starts a controller of a kind, whose objects are woken by their Team and by its key. The watches wake them for more.
func Setup[T setup.Object](mgr ctrl.Manager, o setup.Options, k Kind[T], watches ...func(*builder.Builder)) error {
	kube := mgr.GetClient()
	recorder := event.NewAPIRecorder(mgr.GetEventRecorderFor(managed.ControllerName(k.GVK.GroupKind().String())))
	return setup.Managed(mgr, o,
		setup.Kind[T]{GVK: k.GVK, Object: k.Object, List: k.NewList(), Connector: k.Connector(o, kube, recorder)},
		append(watches, watchTeams(kube, k.NewList), watchSiblings(kube, k.Object, k.NewList), setup.WatchSecrets(ofCredential(kube, o.Credentials, k.NewList)))...)
}
