package servers

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestWaitingLeavesNothing holds that a Pod which waits for a Secret leaves no files of another one that it mounts: nobody removes them when it
// is deleted before it runs.
func TestWaitingLeavesNothing(t *testing.T) {
	mounted := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "there"}, Data: map[string][]byte{"key": []byte("value")}}
	o := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "server", UID: "uid"}}
	o.Spec.Volumes = []corev1.Volume{{Name: "there", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "there"}}}}
	o.Spec.Containers = []corev1.Container{{Env: []corev1.EnvVar{{Name: "X", ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "missing"}, Key: "key"},
	}}}}}
	s := &Servers{client: fake.NewClientBuilder().WithObjects(mounted).Build(), o: Options{Dir: t.TempDir()}}
	p, waiting, err := s.start(t.Context(), o)
	if err != nil || waiting == "" || p != nil {
		t.Fatalf("it does not wait: %v, %q, %v", p, waiting, err)
	}
	if _, err := os.Stat(filepath.Join(s.o.Dir, "uid")); !os.IsNotExist(err) {
		t.Errorf("its folder is there: %v", err)
	}
}
