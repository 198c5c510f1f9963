package oncallchildren

import (
	"bytes"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// takes fails unless an Integration's Secret is its own, and the webhook in it takes an alert for the integration.
func (w *world) takes(o *v1alpha1.Integration) {
	w.t.Helper()
	w.load(o)
	s := w.secret(o)
	if s == nil {
		w.t.Error("there is no Secret")
		return
	}
	if !metav1.IsControlledBy(s, o) || s.Labels["app.kubernetes.io/managed-by"] != "provider-terdut" {
		w.t.Error("the Secret is not the Integration's, or not labelled")
	}
	was := w.alerts(o)
	rsp, err := http.Post(string(s.Data["url"]), "application/json", strings.NewReader("{}"))
	if err != nil {
		w.t.Error("the webhook does not answer") // The error would repeat the URL.
		return
	}
	_ = rsp.Body.Close()
	if !bytes.HasSuffix(s.Data["url"], s.Data["key"]) || rsp.StatusCode >= http.StatusBadRequest || w.alerts(o) != was+1 {
		w.t.Error("the webhook in the Secret is not the integration's")
	}
}

// alerts that an Integration's integration has taken.
func (w *world) alerts(o *v1alpha1.Integration) int {
	for _, i := range w.state().Integrations {
		if i.ID == o.Status.AtProvider.IntegrationID {
			return i.Alerts
		}
	}
	return 0
}
