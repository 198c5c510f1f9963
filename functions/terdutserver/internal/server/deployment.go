package server

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"google.golang.org/protobuf/types/known/structpb"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// Labels of a replica. The Deployment and the Service select by them, so they never change.
const (
	labelName     = "app.kubernetes.io/name"
	labelInstance = "app.kubernetes.io/instance"
	appName       = "terdut-server"
)

const (
	containerName = "server"
	portName      = "http"
	healthPath    = "/healthz"

	volumeTmp      = "tmp"
	volumeDatabase = "database"
	// databaseDir is where the certificates of the database are.
	databaseDir = "/etc/terdut-server/database"
)

func (s *server) labels() map[string]any {
	return map[string]any{labelName: appName, labelInstance: s.subject.Name}
}

// renderDeployment renders the Deployment: a hardened pod that needs nothing of the cluster's API.
func (s *server) renderDeployment() (*structpb.Struct, error) {
	c := s.current()
	port := *s.spec.Networking.ServicePort
	container := map[string]any{
		"name":  containerName,
		"image": s.image(),
		"env":   s.env(c),
		"ports": list(map[string]any{"name": portName, "containerPort": port, "protocol": "TCP"}),
		"readinessProbe": map[string]any{
			"httpGet": map[string]any{"path": healthPath, "port": portName}, "periodSeconds": 5, "failureThreshold": 3,
		},
		// A server whose database is gone is not made better by being started again, so its health does not decide this.
		"livenessProbe": map[string]any{"tcpSocket": map[string]any{"port": portName}, "periodSeconds": 10, "failureThreshold": 6},
		"securityContext": map[string]any{
			"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true,
			"capabilities": map[string]any{"drop": []any{"ALL"}},
		},
	}
	mounts := list(map[string]any{"name": volumeTmp, "mountPath": "/tmp"})
	volumes := list(map[string]any{"name": volumeTmp, "emptyDir": map[string]any{}})
	if c.caSecret != "" {
		mounts = append(mounts, map[string]any{"name": volumeDatabase, "mountPath": databaseDir, "readOnly": true})
		volumes = append(volumes, map[string]any{"name": volumeDatabase, "secret": map[string]any{
			"secretName": c.caSecret, "items": list(map[string]any{"key": keyCA, "path": keyCA}),
		}})
	}
	container["volumeMounts"] = mounts
	resources, err := s.containerResources()
	if err != nil {
		return nil, err
	}
	if resources != nil {
		container["resources"] = resources
	}

	pod := map[string]any{
		"automountServiceAccountToken": false,
		"enableServiceLinks":           false,
		"securityContext":              map[string]any{"runAsNonRoot": true, "seccompProfile": map[string]any{"type": "RuntimeDefault"}},
		"containers":                   list(container),
		"volumes":                      volumes,
	}
	if len(s.spec.Image.PullSecrets) > 0 {
		secrets := make([]any, 0, len(s.spec.Image.PullSecrets))
		for _, p := range s.spec.Image.PullSecrets {
			secrets = append(secrets, map[string]any{"name": p.Name})
		}
		pod["imagePullSecrets"] = secrets
	}
	m, err := s.manifest("apps/v1", kinds[resourceDeployment], s.generated(resourceDeployment, s.subject.Name), s.labels(), map[string]any{
		"replicas": *s.spec.Replicas,
		"selector": map[string]any{"matchLabels": s.labels()},
		"template": map[string]any{"metadata": map[string]any{"labels": s.labels()}, "spec": pod},
	})
	if err != nil {
		return nil, err
	}
	s.record(m)
	return m, nil
}

func (s *server) image() string {
	i := s.spec.Image
	out := i.Repository
	if i.Tag != nil {
		out += ":" + *i.Tag
	}
	if i.Digest != nil {
		out += "@" + *i.Digest
	}
	return out
}

// containerResources in the form that the API server writes quantities in.
func (s *server) containerResources() (map[string]any, error) {
	r := s.spec.Resources
	if r == nil || len(r.Requests) == 0 && len(r.Limits) == 0 {
		return nil, nil
	}
	out := map[string]any{}
	for name, l := range map[string]corev1.ResourceList{"requests": r.Requests, "limits": r.Limits} {
		if len(l) == 0 {
			continue
		}
		q := map[string]any{}
		for resource, quantity := range l {
			q[string(resource)] = quantity.String()
		}
		out[name] = q
	}
	return out, nil
}

// A deployment is what is read of a Deployment.
type deployment = composite.Object[struct {
	Replicas int32 `json:"replicas"`
	Paused   bool  `json:"paused"`
	Template struct {
		Spec corev1.PodSpec `json:"spec"`
	} `json:"template"`
}, struct {
	ObservedGeneration int64 `json:"observedGeneration"`
	Replicas           int32 `json:"replicas"`
	UpdatedReplicas    int32 `json:"updatedReplicas"`
	AvailableReplicas  int32 `json:"availableReplicas"`
	Conditions         []struct {
		Type    string                 `json:"type"`
		Status  corev1.ConditionStatus `json:"status"`
		Reason  string                 `json:"reason"`
		Message string                 `json:"message"`
	} `json:"conditions"`
}]

// deploymentSeen tells whether the Deployment's controller has got to its last change, and there are replicas of the template as it is now. It may
// have looked and made none yet: it does so while it is paused, and once when the number of replicas changes.
func deploymentSeen(o *object) bool {
	d := &deployment{}
	return composite.Decode(o.manifest, d) == nil && d.Metadata.Generation > 0 && d.Status.ObservedGeneration == d.Metadata.Generation &&
		d.Status.UpdatedReplicas > 0 && !d.Spec.Paused
}

// deploymentReady tells whether all replicas run the current template and answer, and no other does.
func deploymentReady(o *object) bool {
	d := &deployment{}
	if err := composite.Decode(o.manifest, d); err != nil {
		return false
	}
	st := d.Status
	return st.ObservedGeneration == d.Metadata.Generation && d.Metadata.Generation > 0 &&
		st.UpdatedReplicas == d.Spec.Replicas && st.AvailableReplicas == d.Spec.Replicas && st.Replicas == d.Spec.Replicas
}

// deploymentRolledOut tells whether all replicas that there are run the current template, whether they answer or not.
func deploymentRolledOut(o *object) bool {
	d := &deployment{}
	if err := composite.Decode(o.manifest, d); err != nil {
		return false
	}
	return d.Status.ObservedGeneration == d.Metadata.Generation && d.Metadata.Generation > 0 && d.Status.UpdatedReplicas == d.Status.Replicas
}

// deploymentFailure is what a Deployment says when its replicas do not come up, or nothing.
func deploymentFailure(o *object) (reason, message string) {
	d := &deployment{}
	if err := composite.Decode(o.manifest, d); err != nil || d.Status.ObservedGeneration != d.Metadata.Generation {
		return "", ""
	}
	for _, c := range d.Status.Conditions {
		failed := c.Type == "ReplicaFailure" && c.Status == corev1.ConditionTrue || c.Type == "Progressing" && c.Status == corev1.ConditionFalse
		if failed && c.Reason != "" {
			return c.Reason, fmt.Sprintf("Deployment %q: its conditions and its Pods say why.", o.Metadata.Name)
		}
	}
	return "", ""
}

// connectionOf the replicas of an observed Deployment.
func connectionOf(observed *structpb.Struct) connection {
	d, c := &deployment{}, connection{}
	if err := composite.Decode(observed, d); err != nil {
		return c
	}
	for _, container := range d.Spec.Template.Spec.Containers {
		if container.Name != containerName {
			continue
		}
		for _, e := range container.Env {
			switch {
			case e.Name == envDSN:
				c.dsn = e.Value
			case e.Name == envPassword && e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil:
				r := e.ValueFrom.SecretKeyRef
				c.password = &commonv1alpha1.LocalSecretKeySelector{Name: r.Name, Key: r.Key}
			}
		}
	}
	for _, v := range d.Spec.Template.Spec.Volumes {
		if v.Name == volumeDatabase && v.Secret != nil {
			c.caSecret = v.Secret.SecretName
		}
	}
	return c
}
