package baosecret

import (
	"net/url"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// project what was read into the status. A record that is not there leaves the version that is known: it says that there was one. Of a
// record that this object does not hold, only whose it is, so that nothing of it is ever taken for ours.
func (e *external) project(mg *v1alpha1.BaoSecret, r *record) {
	known := mg.Status.AtProvider.Version
	o := v1alpha1.BaoSecretObservation{
		Version:        known,
		Mount:          e.mount,
		Path:           e.path,
		URL:            recordURL(e.cfg.ExternalAddress(), e.mount, e.path),
		DeletionPolicy: mg.Spec.ForProvider.DeletionPolicy,
	}
	if a := e.cfg.Server.Access; a != nil {
		o.Access = &v1alpha1.AccessObservation{
			Access: *a, Server: e.cfg.ExternalAddress(), Namespace: ptr.Deref(e.cfg.Server.Namespace, ""), CABundle: e.client.CABundle(),
		}
	}
	if m := r.metadata; m != nil {
		o.RecordedOwner = recordedOwner(m)
	}
	if m := r.metadata; m != nil && (holds(mg, m) || onlyObserves(mg)) {
		if r.data != nil {
			o.Version = int64(m.CurrentVersion)
			o.Keys = keysIn(mg.Spec.ForProvider.Data, r)
		}
		if v, ok := m.Current(); ok {
			o.CreatedTime = timeOf(v.Created)
		}
		if done, ok := rotationOf(m, tagRotated); ok && m.CurrentVersion >= done.version {
			o.RotationTrigger = done.trigger
			// The first version is no rotation, and old versions are forgotten by the server.
			if v, ok := m.Versions[done.version]; ok && done.version > 1 {
				o.RotatedTime = timeOf(v.Created)
			}
		}
	}
	mg.Status.AtProvider = o
}

// observeOnly reports a record that is only looked at, whoever owns it.
func (e *external) observeOnly(mg *v1alpha1.BaoSecret, r *record) managed.ExternalObservation {
	if r.data == nil {
		return managed.ExternalObservation{}
	}
	setup.Mark(mg, setup.Condition(v1alpha1.TypeRecordReady, corev1.ConditionTrue, v1alpha1.ReasonStored, ""), xpv2.Available())
	return upToDate
}

// keysIn returns the spec's keys that the record has, sorted.
func keysIn(items []v1alpha1.DataItem, r *record) []string {
	var keys []string
	for _, k := range keysOf(items) {
		if _, ok := r.data[k]; ok {
			keys = append(keys, k)
		}
	}
	return keys
}

// recordURL returns where the record's data is in OpenBao's API.
func recordURL(address, mount, path string) string {
	segments := strings.Split(mount+"/data/"+path, "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	return strings.TrimSuffix(address, "/") + "/v1/" + strings.Join(segments, "/")
}

func timeOf(t interface{ Unix() int64 }) *metav1.Time {
	v := metav1.Unix(t.Unix(), 0)
	return &v
}
