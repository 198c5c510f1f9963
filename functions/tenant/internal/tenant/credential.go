package tenant

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/api/equality"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// passwordLength of 32 letters and digits is 190 bits.
const passwordLength = 32

// The URI's template. Its text is constant and every part is a value, so that nothing in a value is taken for a template. An IPv6
// address stands in brackets, see RFC 3986, section 3.2.2.
const (
	uriTemplate     = "postgresql://{{ uriUser .username }}:{{ uriUser .password }}@{{ .host }}:{{ .port }}/{{ uriPath .dbname }}?sslmode={{ uriQuery .sslmode }}"
	uriTemplateIPv6 = "postgresql://{{ uriUser .username }}:{{ uriUser .password }}@[{{ .host }}]:{{ .port }}/{{ uriPath .dbname }}?sslmode={{ uriQuery .sslmode }}"
)

// ownedKeys are the keys of the record that are ours, those that are not always there included.
var ownedKeys = []string{keyHost, keyHostAddr, keyPort, keyDatabase, keyUsername, keyPassword, keySSLMode, keyURI, keyCA}

// consumer is what applications connect to, and whether the PGDatabase says so.
func (t *tenant) consumer() (postgresqlv1alpha1.ConsumerObservation, bool) {
	c := t.databaseFacts().Consumer
	return c, c.Host != "" && c.Port > 0 && c.SSLMode != ""
}

// renderCredential renders the BaoSecret. While the PGDatabase does not say what applications connect to, the values that the observed
// BaoSecret holds are kept.
func (t *tenant) renderCredential() (*structpb.Struct, error) {
	var data []openbaov1alpha1.DataItem
	consumer, ok := t.consumer()
	switch {
	case ok:
		data = t.data(consumer)
	case t.credential != nil:
		data = ownedCredential(t.credential).ForProvider.Data
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("observed resource %q: spec.forProvider.data: required while the database's status does not say what applications connect to", ResourceCredential)
	}

	items := make([]any, 0, len(data))
	for _, d := range data {
		items = append(items, renderItem(d))
	}
	forProvider := map[string]any{
		"path":           t.names.path,
		"data":           items,
		"deletionPolicy": string(t.spec.DeletionPolicy),
	}
	if r := t.spec.Rotation; r != nil {
		forProvider["rotation"] = map[string]any{"trigger": r.Trigger}
	}
	return composite.Manifest(t.subject, openbaov1alpha1.SchemeGroupVersion.String(), openbaov1alpha1.BaoSecretKind, t.names.credentialObject, nil, map[string]any{
		"providerConfigRef": map[string]any{"kind": composite.ClusterProviderConfig, "name": t.spec.BaoRef.Name},
		"forProvider":       forProvider,
	})
}

// data of the record, in the order of ownedKeys.
func (t *tenant) data(c postgresqlv1alpha1.ConsumerObservation) []openbaov1alpha1.DataItem {
	value := func(key, v string) openbaov1alpha1.DataItem { return openbaov1alpha1.DataItem{Key: key, Value: &v} }
	uri := uriTemplate
	if strings.Contains(c.Host, ":") {
		uri = uriTemplateIPv6
	}

	items := []openbaov1alpha1.DataItem{value(keyHost, c.Host)}
	if c.HostAddr != "" {
		items = append(items, value(keyHostAddr, c.HostAddr))
	}
	items = append(items,
		value(keyPort, strconv.Itoa(int(c.Port))),
		value(keyDatabase, t.names.database),
		value(keyUsername, t.names.owner),
		openbaov1alpha1.DataItem{Key: keyPassword, Generate: &openbaov1alpha1.Generate{Length: passwordLength}},
		value(keySSLMode, string(c.SSLMode)),
		openbaov1alpha1.DataItem{Key: keyURI, Template: &uri},
	)
	if c.CABundle != "" {
		items = append(items, value(keyCA, c.CABundle))
	}
	return items
}

func renderItem(d openbaov1alpha1.DataItem) map[string]any {
	item := map[string]any{"key": d.Key}
	if d.Value != nil {
		item["value"] = *d.Value
	}
	if d.Generate != nil {
		item["generate"] = map[string]any{"length": d.Generate.Length}
	}
	if d.Template != nil {
		item["template"] = *d.Template
	}
	return item
}

// ownedCredential is what we own of a BaoSecret's spec. Keys that somebody else added are theirs.
func ownedCredential(c *credential) openbaov1alpha1.BaoSecretSpec {
	p := c.Spec.ForProvider
	out := openbaov1alpha1.BaoSecretSpec{
		ManagedResourceSpec: xpv2.ManagedResourceSpec{ProviderConfigReference: c.Spec.ProviderConfigReference},
		ForProvider:         openbaov1alpha1.BaoSecretParameters{Path: p.Path, DeletionPolicy: p.DeletionPolicy, Rotation: p.Rotation},
	}
	for _, d := range p.Data {
		if slices.Contains(ownedKeys, d.Key) {
			out.ForProvider.Data = append(out.ForProvider.Data, d)
		}
	}
	slices.SortFunc(out.ForProvider.Data, func(a, b openbaov1alpha1.DataItem) int {
		return cmp.Compare(slices.Index(ownedKeys, a.Key), slices.Index(ownedKeys, b.Key))
	})
	return out
}

// sameCredential compares what we own of two BaoSecrets.
func sameCredential(desired, observed *credential) bool {
	return equality.Semantic.DeepEqual(ownedCredential(desired), ownedCredential(observed))
}

// recordValue is a value that the observed record is given in clear text, or nothing.
func (t *tenant) recordValue(key string) string {
	if t.credential == nil {
		return ""
	}
	for _, d := range t.credential.Spec.ForProvider.Data {
		if d.Key == key && d.Value != nil {
			return *d.Value
		}
	}
	return ""
}

// credentialAnswers of the BaoSecret; there are none when it is absent.
func (t *tenant) credentialAnswers() composite.Answers {
	if t.credential == nil {
		return composite.Answers{}
	}
	return composite.Answers{Generation: t.credential.Metadata.Generation, Status: t.credential.Status.ManagedResourceStatus}
}

// recordFacts is what is known of the record outside.
func (t *tenant) recordFacts() openbaov1alpha1.BaoSecretObservation {
	if t.credential == nil {
		return openbaov1alpha1.BaoSecretObservation{}
	}
	return t.credential.Status.AtProvider
}
