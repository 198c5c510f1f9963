package consume

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/ryuvia/provider-terdut/internal/contract"
)

// TestH50AllForms has one fixture for each form in which a pod uses a Secret, once right and once wrong, and for what is no use at all.
func TestH50AllForms(t *testing.T) {
	item := func(keys ...string) (items []corev1.KeyToPath) {
		for _, k := range keys {
			items = append(items, corev1.KeyToPath{Key: k, Path: "files/" + k})
		}
		return items
	}
	volume := func(name string, optional *bool, keys ...string) corev1.Volume {
		return corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name, Optional: optional, Items: item(keys...)}}}
	}
	projected := func(name string, optional *bool, keys ...string) corev1.Volume {
		return corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ConfigMap: &corev1.ConfigMapProjection{}},
			{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: optional, Items: item(keys...)}},
		}}}}
	}
	container := func(c corev1.Container) corev1.PodSpec {
		c.Name = "api"
		return corev1.PodSpec{Containers: []corev1.Container{c}}
	}
	env := func(e corev1.EnvVar) corev1.PodSpec { return container(corev1.Container{Env: []corev1.EnvVar{e}}) }
	from := func(e corev1.EnvFromSource) corev1.PodSpec {
		return container(corev1.Container{EnvFrom: []corev1.EnvFromSource{e}})
	}
	files := func(v corev1.Volume, mounts ...corev1.VolumeMount) corev1.PodSpec {
		p := container(corev1.Container{VolumeMounts: append([]corev1.VolumeMount{{Name: "v", MountPath: "/all"}}, mounts...)})
		p.Volumes = []corev1.Volume{v}
		return p
	}
	pull := func(name string) corev1.PodSpec {
		return corev1.PodSpec{ImagePullSecrets: []corev1.LocalObjectReference{{Name: name}}}
	}
	password := fromSecret("PW", secret, "password")

	use := func(path string, form Form, restart bool, reasons ...contract.Reason) Use {
		return Use{path, form, restart, append([]contract.Reason{}, reasons...)}
	}
	asVolume := use("volumes[v].secret", FormVolume, false)
	none := []Use{}
	cases := map[string]struct {
		reason string
		pod    corev1.PodSpec
		want   []Use
	}{
		"Env":              {reason: "A variable keeps the old value until a restart.", pod: env(password), want: []Use{use("containers[api].env[PW]", FormEnv, true)}},
		"EnvOptional":      {reason: "An optional reference hides that a required key is gone.", pod: env(optionally(fromSecret("PW", secret, "password"))), want: []Use{use("containers[api].env[PW]", FormEnv, true, contract.ReasonOptionalReferenceNotAllowed)}},
		"EnvOptionalKey":   {reason: "Of an optional key it is right.", pod: env(optionally(fromSecret("PORT", secret, "port"))), want: []Use{use("containers[api].env[PORT]", FormEnv, true)}},
		"EnvAbsent":        {reason: "A key is read that does not exist.", pod: env(fromSecret("PW", secret, "passwort")), want: []Use{use("containers[api].env[PW]", FormEnv, true, contract.ReasonKeyNotFound)}},
		"EnvOther":         {reason: "A Secret of a similar name is another one.", pod: env(fromSecret("PW", secret+"-old", "password")), want: none},
		"EnvInline":        {reason: "An inline value is no use of the Secret.", pod: env(corev1.EnvVar{Name: "password", Value: "hunter2"}), want: none},
		"EnvFrom":          {reason: "All keys are portable with a prefix or without.", pod: from(allOf(secret, "X_", nil)), want: []Use{use("containers[api].envFrom[0]", FormEnvFrom, true)}},
		"EnvFromOptional":  {reason: "An optional source hides that all are gone.", pod: from(allOf(secret, "", ptr(true))), want: []Use{use("containers[api].envFrom[0]", FormEnvFrom, true, contract.ReasonOptionalReferenceNotAllowed)}},
		"EnvFromPrefix":    {reason: "An odd prefix makes every name odd.", pod: from(allOf(secret, "x-", nil)), want: []Use{use("containers[api].envFrom[0]", FormEnvFrom, true, contract.ReasonKeyNotPortable)}},
		"EnvFromOther":     {reason: "Another Secret is no use.", pod: from(allOf("shop", "", nil)), want: none},
		"Volume":           {reason: "Files follow the Secret.", pod: files(volume(secret, nil)), want: []Use{asVolume}},
		"VolumeOptional":   {reason: "An optional volume is empty when the Secret is gone.", pod: files(volume(secret, ptr(true))), want: []Use{use("volumes[v].secret", FormVolume, false, contract.ReasonOptionalReferenceNotAllowed)}},
		"VolumeOther":      {reason: "Another Secret is no use.", pod: files(volume("shop", nil)), want: none},
		"Items":            {reason: "A list with all required keys is right.", pod: files(volume(secret, nil, "password")), want: []Use{asVolume}},
		"ItemsLack":        {reason: "A list without a required key is not.", pod: files(volume(secret, nil, "port")), want: []Use{use("volumes[v].secret", FormVolume, false, contract.ReasonKeyNotProjected)}},
		"ItemsAbsent":      {reason: "Nor is one with a key that does not exist.", pod: files(volume(secret, nil, "password", "user")), want: []Use{use("volumes[v].secret", FormVolume, false, contract.ReasonKeyNotFound)}},
		"Projected":        {reason: "A projected volume is a volume.", pod: files(projected(secret, nil)), want: []Use{use("volumes[v].projected.sources[1]", FormProjected, false)}},
		"ProjectedLack":    {reason: "With the same faults.", pod: files(projected(secret, ptr(true), "port")), want: []Use{use("volumes[v].projected.sources[1]", FormProjected, false, contract.ReasonKeyNotProjected, contract.ReasonOptionalReferenceNotAllowed)}},
		"ProjectedOther":   {reason: "Another Secret is no use.", pod: files(projected("shop", nil)), want: none},
		"SubPath":          {reason: "A file that is mounted by itself keeps the old value.", pod: files(volume(secret, nil), corev1.VolumeMount{Name: "v", SubPath: "password"}), want: []Use{use("containers[api].volumeMounts[1]", FormSubPath, true), asVolume}},
		"SubPathAbsent":    {reason: "One that does not exist becomes a folder.", pod: files(volume(secret, nil), corev1.VolumeMount{Name: "v", SubPath: "passwort"}), want: []Use{use("containers[api].volumeMounts[1]", FormSubPath, true, contract.ReasonKeyNotFound), asVolume}},
		"SubPathItem":      {reason: "A list gives the files their paths.", pod: files(volume(secret, nil, "password"), corev1.VolumeMount{Name: "v", SubPath: "files/password"}), want: []Use{use("containers[api].volumeMounts[1]", FormSubPath, true), asVolume}},
		"SubPathFolder":    {reason: "And folders.", pod: files(volume(secret, nil, "password"), corev1.VolumeMount{Name: "v", SubPath: "files/"}), want: []Use{use("containers[api].volumeMounts[1]", FormSubPath, true), asVolume}},
		"SubPathNotItem":   {reason: "A key has no file at its own name then.", pod: files(volume(secret, nil, "password"), corev1.VolumeMount{Name: "v", SubPath: "password"}), want: []Use{use("containers[api].volumeMounts[1]", FormSubPath, true, contract.ReasonKeyNotFound), asVolume}},
		"SubPathExpr":      {reason: "What a path with variables shows is not known here.", pod: files(volume(secret, nil), corev1.VolumeMount{Name: "v", SubPathExpr: "$(X)"}), want: []Use{use("containers[api].volumeMounts[1]", FormSubPath, true), asVolume}},
		"SubPathOther":     {reason: "Another volume is no use.", pod: files(volume("shop", nil), corev1.VolumeMount{Name: "v", SubPath: "password"}), want: none},
		"SubPathProjected": {reason: "Another source of a projected volume may have the file.", pod: files(projected(secret, nil), corev1.VolumeMount{Name: "v", SubPath: "x"}), want: []Use{use("containers[api].volumeMounts[1]", FormSubPath, true), use("volumes[v].projected.sources[1]", FormProjected, false)}},
		"PullSecret":       {reason: "Images are pulled with it.", pod: pull(secret), want: []Use{use("imagePullSecrets[0]", FormImagePullSecret, false)}},
		"PullSecretOther":  {reason: "With another they are not.", pod: pull("shop"), want: none},
		"InitContainer":    {reason: "Init containers use it too.", pod: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "i", Env: []corev1.EnvVar{password}}}}, want: []Use{use("initContainers[i].env[PW]", FormEnv, true)}},
		"InitContainerNot": {reason: "Or do not.", pod: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "i"}}}, want: none},
		"Ephemeral":        {reason: "Ephemeral containers use it too.", pod: corev1.PodSpec{EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "e", EnvFrom: []corev1.EnvFromSource{allOf(secret, "", nil)}}}}}, want: []Use{use("ephemeralContainers[e].envFrom[0]", FormEnvFrom, true)}},
		"EphemeralNot":     {reason: "Or do not.", pod: corev1.PodSpec{EphemeralContainers: []corev1.EphemeralContainer{{}}}, want: none},
	}
	rules := []contract.Rule{{Name: "password"}, {Name: "port", Required: ptr(false)}}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Uses(&tc.pod, Target{Secret: secret, Rules: rules, DataKeys: []string{"password", "port"}})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nUses(...): -want, +got:\n%s", tc.reason, diff)
			}
			// When it is not known which keys the Secret has, none is said to be absent.
			for _, u := range Uses(&tc.pod, Target{Secret: secret, Rules: rules}) {
				for _, r := range u.Reasons {
					if r == contract.ReasonKeyNotFound && name != "SubPathNotItem" {
						t.Errorf("\n%s\nUses(...): %s says that a key is absent and cannot know it", tc.reason, u.Path)
					}
				}
			}
		})
	}

	t.Run("PlainTextCopy", func(t *testing.T) {
		template := corev1.PodTemplateSpec{Spec: container(corev1.Container{
			Env:     []corev1.EnvVar{{Name: "password", Value: "hunter2"}},
			EnvFrom: []corev1.EnvFromSource{allOf(secret, "", nil)},
		})}
		got := Check(&template, Target{Secret: secret, Rules: rules})
		if diff := cmp.Diff([]Finding{{"containers[api].env[password]", contract.ReasonEnvConflict}}, got.Findings); diff != "" {
			t.Errorf("a copy in plain text of the same variable must be a violation: -want, +got:\n%s", diff)
		}
	})
}
