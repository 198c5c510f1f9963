package e2e

import (
	"fmt"
	"strings"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// A setting changes one field of an object. A nil value removes it.
type setting struct {
	path  string
	value any
}

// set a field. Steps of the path are separated by dots; a number is an index of a list.
func (s setting) on(u *unstructured.Unstructured) {
	var at any = u.Object
	steps := strings.Split(s.path, ".")
	for i, step := range steps {
		last := i == len(steps)-1
		switch here := at.(type) {
		case map[string]any:
			switch {
			case last && s.value == nil:
				delete(here, step)
			case last:
				here[step] = s.value
			case here[step] == nil:
				here[step] = map[string]any{}
			}
			at = here[step]
		case []any:
			n := int(step[0] - '0')
			if last {
				here[n] = s.value
			}
			at = here[n]
		}
	}
}

type obj = map[string]any

// strict refuses fields that the schema does not know, as kubectl does.
const strict = client.FieldValidation(metav1.FieldValidationStrict)

// judge the API server's answer: it accepts, or says these.
func judge(t *testing.T, err error, says []string) {
	t.Helper()
	switch {
	case len(says) == 0 && err != nil:
		t.Errorf("good input is rejected: %v", err)
	case len(says) > 0 && err == nil:
		t.Errorf("bad input is accepted; it should be rejected with %q", says)
	case len(says) > 0 && !kerrors.IsInvalid(err) && !kerrors.IsBadRequest(err):
		t.Errorf("bad input is not rejected as such: %v", err)
	}
	for _, want := range says {
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("the rejection does not say %q: %v", want, err)
		}
	}
}

// valid objects of each kind, with every field that can be immutable.
func valid(ns string) map[string]*unstructured.Unstructured {
	config := obj{"kind": "ClusterProviderConfig", "name": "none"}
	specs := map[string]struct {
		gvk  schema.GroupVersionKind
		spec obj
	}{
		"PGDatabase": {gvk: postgresqlv1alpha1.PGDatabaseGroupVersionKind, spec: obj{"providerConfigRef": config, "forProvider": obj{
			"database": "shop", "locale": "C", "encoding": "UTF8", "template": "template0",
			"owner":      obj{"name": "shop", "passwordFrom": obj{"secretKeyRef": obj{"name": "x", "key": "y"}}},
			"extensions": []any{obj{"name": "pgcrypto"}, obj{"name": "citext"}},
		}}},
		"BaoSecret": {gvk: openbaov1alpha1.BaoSecretGroupVersionKind, spec: obj{"providerConfigRef": config, "forProvider": obj{
			"mount": "kv", "path": "apps/shop", "data": []any{obj{"key": "username", "value": "shop"}, obj{"key": "password", "generate": obj{}}},
		}}},
		"Tenant": {gvk: terdutv1alpha1.TenantGroupVersionKind, spec: obj{
			"database": "shop", "owner": "shop", "secretName": "shop", "extensions": []any{obj{"name": "pgcrypto"}, obj{"name": "citext"}},
		}},
		"Policy": {gvk: accessv1alpha1.CRDGroupVersion.WithKind("Policy"), spec: obj{"providerConfigRef": config, "forProvider": obj{
			"policy": `path "kv/data/x" { capabilities = ["read"] }`,
		}}},
		"KubernetesAuthRole": {gvk: accessv1alpha1.CRDGroupVersion.WithKind("KubernetesAuthRole"), spec: obj{"providerConfigRef": config, "forProvider": obj{
			"boundServiceAccountNames": []any{"app"}, "boundServiceAccountNamespaces": []any{"shop"}, "tokenPolicies": []any{"default", "read"},
		}}},
		"AppRole": {gvk: accessv1alpha1.CRDGroupVersion.WithKind("AppRole"), spec: obj{"providerConfigRef": config, "forProvider": obj{"tokenPolicies": []any{"read"}}}},
		"PostgreSQL": {gvk: postgresqlv1alpha1.SchemeGroupVersion.WithKind("ProviderConfig"), spec: obj{
			"host": "db.example.org", "registryDatabase": "terdut", "credentials": obj{"secretRef": obj{"name": "x"}},
		}},
		"OpenBao": {gvk: openbaov1alpha1.SchemeGroupVersion.WithKind("ProviderConfig"), spec: obj{
			"address": "https://bao.example.org", "auth": obj{"token": obj{"secretRef": obj{"name": "x", "key": "y"}}},
		}},
	}
	out := map[string]*unstructured.Unstructured{}
	for kind, s := range specs {
		u := &unstructured.Unstructured{Object: obj{"spec": s.spec}}
		u.SetGroupVersionKind(s.gvk)
		u.SetNamespace(ns)
		u.SetName("input")
		// Only the API server is asked here.
		pause(u)
		out[kind] = u
	}
	return out
}

// many returns n items.
func many(n int, item func(i int) obj) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = item(i)
	}
	return out
}

func TestBadInput(t *testing.T) {
	const forbidden = "S3cr3t" // It stands where no credential may, and what is refused is shown to others too.
	t.Parallel()
	const db, bao = "spec.forProvider.", "spec.forProvider."
	extension := func(i int) obj { return obj{"name": fmt.Sprint("x", i)} }
	item := func(i int) obj { return obj{"key": fmt.Sprint("x", i), "value": ""} }
	euro := strings.Repeat("€", 21) // 63 bytes.

	cases := map[string]struct {
		kind string
		set  setting
		// says are the field and the rule that the rejection names. None: it is accepted.
		says []string
	}{
		"PGDatabase/Valid":               {kind: "PGDatabase"},
		"PGDatabase/63Bytes":             {kind: "PGDatabase", set: setting{db + "database", strings.Repeat("x", 63)}},
		"PGDatabase/63BytesOf21":         {kind: "PGDatabase", set: setting{db + "database", euro}},
		"PGDatabase/64BytesOf22":         {kind: "PGDatabase", set: setting{db + "database", euro + "x"}, says: []string{db + "database", "at most 63 bytes"}},
		"PGDatabase/64Bytes":             {kind: "PGDatabase", set: setting{db + "database", strings.Repeat("x", 64)}, says: []string{db + "database", "63"}},
		"PGDatabase/OwnerOf64Bytes":      {kind: "PGDatabase", set: setting{db + "owner.name", euro + "x"}, says: []string{db + "owner.name", "at most 63 bytes"}},
		"PGDatabase/AnyCharacter":        {kind: "PGDatabase", set: setting{db + "database", `A "b"; DROP--é`}},
		"PGDatabase/NUL":                 {kind: "PGDatabase", set: setting{db + "database", "a\x00b"}, says: []string{db + "database", "must not contain NUL"}},
		"PGDatabase/OwnerNUL":            {kind: "PGDatabase", set: setting{db + "owner.name", "a\x00b"}, says: []string{db + "owner.name", "must not contain NUL"}},
		"PGDatabase/Empty":               {kind: "PGDatabase", set: setting{db + "database", ""}, says: []string{db + "database", "at least 1"}},
		"PGDatabase/SystemDatabase":      {kind: "PGDatabase", set: setting{db + "database", "template1"}, says: []string{db + "database", "system database"}},
		"PGDatabase/ReservedOwner":       {kind: "PGDatabase", set: setting{db + "owner.name", "pg_monitor"}, says: []string{db + "owner.name", "reserved"}},
		"PGDatabase/Superuser":           {kind: "PGDatabase", set: setting{db + "owner.name", "postgres"}, says: []string{db + "owner.name", "reserved"}},
		"PGDatabase/NoSource":            {kind: "PGDatabase", set: setting{db + "owner.passwordFrom", obj{}}, says: []string{db + "owner.passwordFrom", "exactly one of baoSecretRef and secretKeyRef"}},
		"PGDatabase/BothSources":         {kind: "PGDatabase", set: setting{db + "owner.passwordFrom.baoSecretRef", obj{"name": "x", "key": "y"}}, says: []string{db + "owner.passwordFrom", "exactly one of baoSecretRef and secretKeyRef"}},
		"PGDatabase/BaoSource":           {kind: "PGDatabase", set: setting{db + "owner.passwordFrom", obj{"baoSecretRef": obj{"name": "x", "key": "y"}}}},
		"PGDatabase/Policy":              {kind: "PGDatabase", set: setting{db + "deletionPolicy", "Keep"}, says: []string{db + "deletionPolicy", "Retain", "Delete"}},
		"PGDatabase/ManagementPolicy":    {kind: "PGDatabase", set: setting{"spec.managementPolicies", []any{"Look"}}, says: []string{"spec.managementPolicies", "Observe"}},
		"PGDatabase/Limit":               {kind: "PGDatabase", set: setting{db + "connectionLimit", int64(-2)}, says: []string{db + "connectionLimit", "-1"}},
		"PGDatabase/64Extensions":        {kind: "PGDatabase", set: setting{db + "extensions", many(64, extension)}},
		"PGDatabase/65Extensions":        {kind: "PGDatabase", set: setting{db + "extensions", many(65, extension)}, says: []string{db + "extensions", "64"}},
		"PGDatabase/SameExtension":       {kind: "PGDatabase", set: setting{db + "extensions", []any{extension(0), extension(0)}}, says: []string{db + "extensions", "Duplicate"}},
		"PGDatabase/NoConfigKind":        {kind: "PGDatabase", set: setting{"spec.providerConfigRef.kind", nil}, says: []string{"spec.providerConfigRef.kind", "Required"}},
		"BaoSecret/Valid":                {kind: "BaoSecret"},
		"BaoSecret/TwoSources":           {kind: "BaoSecret", set: setting{bao + "data.1.value", "x"}, says: []string{bao + "data[1]", "exactly one of value, generate, template and valueFrom"}},
		"BaoSecret/NoSource":             {kind: "BaoSecret", set: setting{bao + "data.1.generate", nil}, says: []string{bao + "data[1]", "exactly one of value, generate, template and valueFrom"}},
		"BaoSecret/EmptyValue":           {kind: "BaoSecret", set: setting{bao + "data.0.value", ""}},
		"BaoSecret/Short":                {kind: "BaoSecret", set: setting{bao + "data.1.generate.length", int64(15)}, says: []string{bao + "data[1].generate.length", "16"}},
		"BaoSecret/Key":                  {kind: "BaoSecret", set: setting{bao + "data.1.key", "a b"}, says: []string{bao + "data[1].key", "match"}},
		"BaoSecret/NoData":               {kind: "BaoSecret", set: setting{bao + "data", []any{}}, says: []string{bao + "data", "at least 1"}},
		"BaoSecret/64Items":              {kind: "BaoSecret", set: setting{bao + "data", many(64, item)}},
		"BaoSecret/65Items":              {kind: "BaoSecret", set: setting{bao + "data", many(65, item)}, says: []string{bao + "data", "64"}},
		"BaoSecret/Dots":                 {kind: "BaoSecret", set: setting{bao + "path", "a/../b"}, says: []string{bao + "path", "must not have empty, . or .. segments"}},
		"BaoSecret/Dot":                  {kind: "BaoSecret", set: setting{bao + "path", "./b"}, says: []string{bao + "path", "must not have empty, . or .. segments"}},
		"BaoSecret/DoubleSlash":          {kind: "BaoSecret", set: setting{bao + "path", "a//b"}, says: []string{bao + "path", "must not have empty, . or .. segments"}},
		"BaoSecret/LeadingSlash":         {kind: "BaoSecret", set: setting{bao + "path", "/a"}, says: []string{bao + "path", "leading or trailing slash"}},
		"BaoSecret/TrailingSlash":        {kind: "BaoSecret", set: setting{bao + "path", "a/"}, says: []string{bao + "path", "leading or trailing slash"}},
		"BaoSecret/ThreeDots":            {kind: "BaoSecret", set: setting{bao + "path", "a/.../b c%2F"}},
		"BaoSecret/MountSlash":           {kind: "BaoSecret", set: setting{bao + "mount", "kv/"}, says: []string{bao + "mount", "leading or trailing slash"}},
		"BaoSecret/NUL":                  {kind: "BaoSecret", set: setting{bao + "path", "a\x00b"}, says: []string{bao + "path", "match"}},
		"BaoSecret/Trigger":              {kind: "BaoSecret", set: setting{bao + "rotation.trigger", "a@b"}, says: []string{bao + "rotation.trigger", "match"}},
		"Tenant/Valid":                   {kind: "Tenant"},
		"Tenant/Nothing":                 {kind: "Tenant", set: setting{"spec", obj{}}},
		"Tenant/64BytesOf22":             {kind: "Tenant", set: setting{"spec.database", euro + "x"}, says: []string{"spec.database", "at most 63 bytes"}},
		"Tenant/NUL":                     {kind: "Tenant", set: setting{"spec.owner", "a\x00b"}, says: []string{"spec.owner", "must not contain NUL"}},
		"Tenant/SystemDatabase":          {kind: "Tenant", set: setting{"spec.database", "postgres"}, says: []string{"spec.database", "system database"}},
		"Tenant/ReservedOwner":           {kind: "Tenant", set: setting{"spec.owner", "pg_x"}, says: []string{"spec.owner", "reserved"}},
		"Tenant/OwnerByDefault":          {kind: "Tenant", set: setting{"spec", obj{"database": "pg_orders"}}, says: []string{"spec", "owner is required"}},
		"Tenant/StoreKind":               {kind: "Tenant", set: setting{"spec.secretStoreRef", obj{"kind": "Vault", "name": "x"}}, says: []string{"spec.secretStoreRef.kind", "SecretStore"}},
		"Tenant/Policy":                  {kind: "Tenant", set: setting{"spec.deletionPolicy", "keep"}, says: []string{"spec.deletionPolicy", "Retain", "Delete"}},
		"Tenant/SecretName":              {kind: "Tenant", set: setting{"spec.secretName", "No_Name"}, says: []string{"spec.secretName", "match"}},
		"Tenant/Control":                 {kind: "Tenant", set: setting{"spec.database", "a\u007fb"}, says: []string{"spec.database", "YAML cannot carry"}},
		"Tenant/SecretNameOfDots":        {kind: "Tenant", set: setting{"spec.secretName", "a..b"}, says: []string{"spec.secretName", "match"}},
		"Tenant/65Extensions":            {kind: "Tenant", set: setting{"spec.extensions", many(65, extension)}, says: []string{"spec.extensions", "64"}},
		"Tenant/AccessOfTwoKinds":        {kind: "Tenant", set: setting{"spec.access", obj{"shared": obj{}, "kubernetes": obj{"serviceAccountName": "app"}}}, says: []string{"spec.access"}},
		"Policy/Valid":                   {kind: "Policy"},
		"Policy/JSON":                    {kind: "Policy", set: setting{bao + "policy", " {}"}, says: []string{bao + "policy", "HCL"}},
		"Policy/Empty":                   {kind: "Policy", set: setting{bao + "policy", ""}, says: []string{bao + "policy", "at least 1"}},
		"Policy/None":                    {kind: "Policy", set: setting{bao + "policy", nil}, says: []string{"spec", "policy"}},
		"KubernetesAuthRole/Valid":       {kind: "KubernetesAuthRole"},
		"KubernetesAuthRole/Root":        {kind: "KubernetesAuthRole", set: setting{bao + "tokenPolicies", []any{"root"}}, says: []string{bao + "tokenPolicies", "neither be root"}},
		"KubernetesAuthRole/Owner":       {kind: "KubernetesAuthRole", set: setting{bao + "tokenPolicies", []any{"terdut-owner:x"}}, says: []string{bao + "tokenPolicies", "nor begin with terdut-owner:"}},
		"KubernetesAuthRole/Upper":       {kind: "KubernetesAuthRole", set: setting{bao + "tokenPolicies", []any{"Read"}}, says: []string{bao + "tokenPolicies", "lower case"}},
		"KubernetesAuthRole/Backend":     {kind: "KubernetesAuthRole", set: setting{bao + "backend", "a/../b"}, says: []string{bao + "backend", "segments"}},
		"KubernetesAuthRole/Nobody":      {kind: "KubernetesAuthRole", set: setting{bao + "boundServiceAccountNames", []any{}}, says: []string{bao + "boundServiceAccountNames", "at least 1"}},
		"KubernetesAuthRole/Seconds":     {kind: "KubernetesAuthRole", set: setting{bao + "tokenTtl", int64(-1)}, says: []string{bao + "tokenTtl", "greater than or equal to 0"}},
		"AppRole/Valid":                  {kind: "AppRole"},
		"AppRole/Root":                   {kind: "AppRole", set: setting{bao + "tokenPolicies", []any{"a", "root"}}, says: []string{bao + "tokenPolicies", "neither be root"}},
		"AppRole/Type":                   {kind: "AppRole", set: setting{bao + "tokenType", "golden"}, says: []string{bao + "tokenType", "batch"}},
		"PostgreSQL/Valid":               {kind: "PostgreSQL"},
		"PostgreSQL/ShortInterval":       {kind: "PostgreSQL", set: setting{"spec.verifyInterval", "9s"}, says: []string{"spec.verifyInterval", "at least 10s"}},
		"PostgreSQL/Interval":            {kind: "PostgreSQL", set: setting{"spec.verifyInterval", "10s"}},
		"PostgreSQL/NoInterval":          {kind: "PostgreSQL", set: setting{"spec.verifyInterval", "often"}, says: []string{"spec.verifyInterval"}},
		"PostgreSQL/SSLMode":             {kind: "PostgreSQL", set: setting{"spec.sslMode", "prefer"}, says: []string{"spec.sslMode", "verify-full"}},
		"PostgreSQL/TemplateDatabase":    {kind: "PostgreSQL", set: setting{"spec.database", "template1"}, says: []string{"spec.database", "template databases"}},
		"PostgreSQL/FewConnections":      {kind: "PostgreSQL", set: setting{"spec.maxConnections", int64(2)}, says: []string{"spec.maxConnections", "3"}},
		"PostgreSQL/OtherNamespace":      {kind: "PostgreSQL", set: setting{"spec.credentials.secretRef.namespace", "x"}, says: []string{"spec.credentials.secretRef.namespace", "unknown field"}},
		"OpenBao/Valid":                  {kind: "OpenBao"},
		"OpenBao/TwoWaysIn":              {kind: "OpenBao", set: setting{"spec.auth.appRole", obj{"roleId": "x", "secretRef": obj{"name": "x", "key": "y"}}}, says: []string{"spec.auth", "exactly one of token, appRole and kubernetes"}},
		"OpenBao/NoWayIn":                {kind: "OpenBao", set: setting{"spec.auth", obj{}}, says: []string{"spec.auth", "exactly one of token, appRole and kubernetes"}},
		"OpenBao/CredentialInTheAddress": {kind: "OpenBao", set: setting{"spec.address", "https://a:" + forbidden + "@c"}, says: []string{"spec.address", "without credentials"}},
	}
	ns := namespace(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := valid(ns)[tc.kind]
			if tc.set.path != "" {
				tc.set.on(u)
			}
			err := p.Client.Create(t.Context(), u, client.DryRunAll, strict)
			judge(t, err, tc.says)
			if err != nil && strings.Contains(err.Error(), forbidden) {
				t.Error("the refusal repeats a credential")
			}
		})
	}
}

func TestImmutable(t *testing.T) {
	t.Parallel()
	const in = "spec.forProvider."
	append1 := []any{obj{"name": "pgcrypto"}, obj{"name": "citext"}, obj{"name": "hstore"}}
	drop1 := []any{obj{"name": "pgcrypto"}}

	cases := map[string]struct {
		kind string
		set  setting
		says []string
	}{
		"PGDatabase/Database":         {kind: "PGDatabase", set: setting{in + "database", "other"}, says: []string{in + "database", "database is immutable"}},
		"PGDatabase/NoDatabase":       {kind: "PGDatabase", set: setting{in + "database", nil}, says: []string{"spec.forProvider", "database is immutable"}},
		"PGDatabase/Owner":            {kind: "PGDatabase", set: setting{in + "owner.name", "other"}, says: []string{in + "owner.name", "owner.name is immutable"}},
		"PGDatabase/Encoding":         {kind: "PGDatabase", set: setting{in + "encoding", "LATIN1"}, says: []string{in + "encoding", "encoding is immutable"}},
		"PGDatabase/Locale":           {kind: "PGDatabase", set: setting{in + "locale", "POSIX"}, says: []string{in + "locale", "locale is immutable"}},
		"PGDatabase/NoLocale":         {kind: "PGDatabase", set: setting{in + "locale", nil}, says: []string{"spec.forProvider", "locale is immutable"}},
		"PGDatabase/Template":         {kind: "PGDatabase", set: setting{in + "template", "template1"}, says: []string{in + "template", "template is immutable"}},
		"PGDatabase/NoTemplate":       {kind: "PGDatabase", set: setting{in + "template", nil}},
		"PGDatabase/DropExtension":    {kind: "PGDatabase", set: setting{in + "extensions", drop1}, says: []string{in + "extensions", "extensions cannot be removed"}},
		"PGDatabase/EmptyExtensions":  {kind: "PGDatabase", set: setting{in + "extensions", []any{}}, says: []string{in + "extensions", "extensions cannot be removed"}},
		"PGDatabase/NoExtensions":     {kind: "PGDatabase", set: setting{in + "extensions", nil}, says: []string{"spec.forProvider", "extensions cannot be removed"}},
		"PGDatabase/AddExtension":     {kind: "PGDatabase", set: setting{in + "extensions", append1}},
		"PGDatabase/ExtensionVersion": {kind: "PGDatabase", set: setting{in + "extensions.0.version", "1.3"}},
		"PGDatabase/Limit":            {kind: "PGDatabase", set: setting{in + "connectionLimit", int64(5)}},
		"PGDatabase/Policy":           {kind: "PGDatabase", set: setting{in + "deletionPolicy", "Delete"}},
		"PGDatabase/Source":           {kind: "PGDatabase", set: setting{in + "owner.passwordFrom", obj{"baoSecretRef": obj{"name": "x", "key": "y"}}}},
		"BaoSecret/Mount":             {kind: "BaoSecret", set: setting{in + "mount", "other"}, says: []string{in + "mount", "mount is immutable"}},
		"BaoSecret/NoMount":           {kind: "BaoSecret", set: setting{in + "mount", nil}, says: []string{"spec.forProvider", "mount is immutable"}},
		"BaoSecret/Path":              {kind: "BaoSecret", set: setting{in + "path", "other"}, says: []string{in + "path", "path is immutable"}},
		"BaoSecret/Data":              {kind: "BaoSecret", set: setting{in + "data.0.value", "other"}},
		"Tenant/Database":             {kind: "Tenant", set: setting{"spec.database", "other"}, says: []string{"spec.database", "database is immutable"}},
		"Tenant/NoDatabase":           {kind: "Tenant", set: setting{"spec.database", nil}, says: []string{"spec", "database is immutable"}},
		"Tenant/Owner":                {kind: "Tenant", set: setting{"spec.owner", "other"}, says: []string{"spec.owner", "owner is immutable"}},
		"Tenant/NoOwner":              {kind: "Tenant", set: setting{"spec.owner", nil}, says: []string{"spec", "owner is immutable"}},
		"Tenant/Secret":               {kind: "Tenant", set: setting{"spec.secretName", "other"}, says: []string{"spec.secretName", "secretName is immutable"}},
		"Tenant/NoSecret":             {kind: "Tenant", set: setting{"spec.secretName", nil}, says: []string{"spec", "secretName is immutable"}},
		"Tenant/Instance":             {kind: "Tenant", set: setting{"spec.instanceRef.name", "other"}, says: []string{"spec.instanceRef", "instanceRef is immutable"}},
		"Tenant/NoInstance":           {kind: "Tenant", set: setting{"spec.instanceRef", nil}},
		"Tenant/Bao":                  {kind: "Tenant", set: setting{"spec.baoRef.name", "other"}, says: []string{"spec.baoRef", "baoRef is immutable"}},
		"Tenant/Store":                {kind: "Tenant", set: setting{"spec.secretStoreRef.name", "other"}},
		"Tenant/DropExtension":        {kind: "Tenant", set: setting{"spec.extensions", drop1}, says: []string{"spec.extensions", "extensions cannot be removed"}},
		"Tenant/EmptyExtensions":      {kind: "Tenant", set: setting{"spec.extensions", []any{}}, says: []string{"spec.extensions", "extensions cannot be removed"}},
		"Tenant/NoExtensions":         {kind: "Tenant", set: setting{"spec.extensions", nil}, says: []string{"spec", "extensions cannot be removed"}},
		"Tenant/AddExtension":         {kind: "Tenant", set: setting{"spec.extensions", append1}},
		"Tenant/Policy":               {kind: "Tenant", set: setting{"spec.deletionPolicy", "Delete"}},
		"PostgreSQL/Registry":         {kind: "PostgreSQL", set: setting{"spec.registryDatabase", "other"}, says: []string{"spec.registryDatabase", "registryDatabase is immutable"}},
		"PostgreSQL/Host":             {kind: "PostgreSQL", set: setting{"spec.host", "other"}},
	}
	ns := namespace(t)
	existing := valid(ns)
	delete(existing, "OpenBao")
	for _, u := range existing {
		create(t, u)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := existing[tc.kind].DeepCopy()
			// The provider writes these objects, too.
			judge(t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
				if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(u), u); err != nil {
					return err
				}
				tc.set.on(u)
				return p.Client.Update(t.Context(), u, client.DryRunAll, strict)
			}), tc.says)
		})
	}
}
