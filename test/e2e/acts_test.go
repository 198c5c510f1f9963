package e2e

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// adoptions that an admin writes into both configs.
func adoptions(t *testing.T, pg *postgresqlv1alpha1.ClusterProviderConfig, bao *openbaov1alpha1.ClusterProviderConfig, name, path string, database, record commonv1alpha1.AdoptionTarget) {
	t.Helper()
	allow(t, pg, func(pc *postgresqlv1alpha1.ClusterProviderConfig) {
		pc.Spec.Adoptions = []postgresqlv1alpha1.Adoption{{Database: name, AdoptionTarget: database}}
	})
	allow(t, bao, func(pc *openbaov1alpha1.ClusterProviderConfig) {
		pc.Spec.Adoptions = []openbaov1alpha1.Adoption{{Path: openbao.Mount + "/" + path, AdoptionTarget: record}}
	})
}

// What nobody recorded is taken over when an admin says so, to whom they say, as it is.
func TestH09AdoptUnregistered(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	pg, bao := ownConfigs(t, ns)
	name, path := named(ns), "adopted/"+ns
	sql(t, "CREATE ROLE "+ident(name)+" LOGIN PASSWORD 'by hand'", "GRANT "+ident(name)+" TO terdut_admin WITH ADMIN OPTION", "CREATE DATABASE "+ident(name)+" OWNER "+ident(name))
	inDatabase(t, name, "CREATE TABLE kept AS SELECT 42 AS n")
	kvWrite(t, "data", path, map[string]any{"data": map[string]any{"password": "by hand", "theirs": "1.10"}})
	kvWrite(t, "metadata", path, map[string]any{"custom_metadata": map[string]string{"team": "x"}})
	before := world(t, name, path)

	password := passwordSecret(t, ns, "password")
	db, record := ownPair(ns, "orders", ns, name, path)
	create(t, db)
	create(t, record)
	notReadyFor(t, postgresqlv1alpha1.ReasonConflict, db, record)

	// An act for somebody else, and one that names a recorded owner, are none for us.
	for _, target := range []commonv1alpha1.AdoptionTarget{
		{From: commonv1alpha1.AdoptionFromUnregistered, To: ns + "/other"}, {From: string(db.UID), To: ns + "/orders"},
	} {
		adoptions(t, pg, bao, name, path, target, target)
		passes(t, databases, 2)
		passes(t, credentials, 2)
		notReadyFor(t, postgresqlv1alpha1.ReasonConflict, db, record)
	}
	if diff := before.changes(world(t, name, path)); len(diff) > 0 {
		t.Fatalf("without an admin's consent, these changed: %q", diff)
	}

	target := commonv1alpha1.AdoptionTarget{From: commonv1alpha1.AdoptionFromUnregistered, To: ns + "/orders"}
	adoptions(t, pg, bao, name, path, target, target)
	bothReady(t, db, record)
	after := world(t, name, path)
	same(t, "after adoption", before, after, "database/oid", "role/oid", "database/datdba", "record/data/data", "record/metadata/current_version")
	if after["registry/database.owner_uid"] != `"`+string(db.UID)+`"` || !strings.Contains(after["record/metadata/custom_metadata"], string(record.UID)) {
		t.Error("the records do not name the new owners")
	}
	if !strings.Contains(after["record/metadata/custom_metadata"], `"team":"x"`) {
		t.Error("other people's metadata is gone")
	}
	if n := rowsIn(t, name, "SELECT n FROM kept"); n != 42 || !logsIn(t, name, name, password) {
		t.Errorf("the table holds %d, or the password does not log in", n)
	}
}

// What a deleted object left behind goes to another of the same name when an admin says so, and to nobody else.
func TestH09AdoptRetained(t *testing.T) {
	t.Parallel()
	ns, other := namespace(t), namespace(t)
	pg, bao := ownConfigs(t, ns)
	name, path := named(ns), "retained/"+ns
	password := passwordSecret(t, ns, "password")
	passwordSecret(t, other, "password")
	db, record := ownPair(ns, "orders", ns, name, path)
	create(t, db)
	create(t, record)
	bothReady(t, db, record)
	inDatabase(t, name, "CREATE TABLE kept AS SELECT 42 AS n", "ALTER TABLE kept OWNER TO "+ident(name))
	before := world(t, name, path)
	from, recordFrom := string(db.UID), string(record.UID)
	for _, o := range []client.Object{db, record} {
		remove(t, o)
		isGone(t, o)
	}
	if !logsIn(t, name, name, password) {
		t.Error("the retained password does not log in")
	}

	again, recordAgain := ownPair(ns, "orders", ns, name, path)
	elsewhere, recordElsewhere := ownPair(other, "orders", ns, name, path)
	all := []conditioned{again, recordAgain, elsewhere, recordElsewhere}
	for _, o := range all {
		create(t, o)
	}
	notReadyFor(t, postgresqlv1alpha1.ReasonConflict, all...)
	adoptions(t, pg, bao, name, path, commonv1alpha1.AdoptionTarget{From: from, To: ns + "/orders"}, commonv1alpha1.AdoptionTarget{From: recordFrom, To: ns + "/orders"})
	bothReady(t, again, recordAgain)
	passes(t, databases, 2)
	notReadyFor(t, postgresqlv1alpha1.ReasonConflict, elsewhere, recordElsewhere)
	same(t, "after adoption", before, world(t, name, path), "database/oid", "role/oid", "role/rolpassword", "record/data/data", "record/metadata/versions")
	if n := rowsIn(t, name, "SELECT n FROM kept k JOIN pg_class c ON c.relname = 'kept' AND pg_get_userbyid(c.relowner) = '"+name+"'"); n != 42 || !logsIn(t, name, name, password) {
		t.Errorf("the owner's table holds %d, or the password does not log in", n)
	}
}

// Data that vanished is never made anew by itself: an admin says so.
func TestRecreate(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	pg, bao := ownConfigs(t, ns)
	name, path := named(ns), "lost/"+ns
	password := passwordSecret(t, ns, "password")
	db, record := ownPair(ns, "orders", ns, name, path)
	db.Spec.ForProvider.DeletionPolicy, record.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete, commonv1alpha1.DeletionDelete
	create(t, db)
	create(t, record)
	bothReady(t, db, record)
	before := world(t, name, path)

	sql(t, "DROP DATABASE "+ident(name)+" WITH (FORCE)")
	kvWrite(t, "destroy", path, map[string]any{"versions": []int{1}})
	lost := func() {
		t.Helper()
		notReadyFor(t, postgresqlv1alpha1.ReasonDataLost, db, record)
		if after := world(t, name, path); after.has("database/") || after["record/metadata/current_version"] != "1" {
			t.Fatal("lost data was made anew without an admin's consent")
		}
	}
	lost()
	// Neither an adoption that does not say so, nor one for somebody else.
	self, recordSelf := commonv1alpha1.AdoptionTarget{From: string(db.UID), To: ns + "/orders"}, commonv1alpha1.AdoptionTarget{From: string(record.UID), To: ns + "/orders"}
	other := commonv1alpha1.AdoptionTarget{From: self.From, To: ns + "/other", Recreate: true}
	for _, target := range [][2]commonv1alpha1.AdoptionTarget{{self, recordSelf}, {other, other}} {
		adoptions(t, pg, bao, name, path, target[0], target[1])
		passes(t, databases, 2)
		passes(t, credentials, 2)
		lost()
	}
	self.Recreate, recordSelf.Recreate = true, true
	adoptions(t, pg, bao, name, path, self, recordSelf)
	bothReady(t, db, record)
	after := world(t, name, path)
	same(t, "after the database was made anew", before, after, "role/oid")
	if after["database/oid"] == before["database/oid"] || after["record/metadata/current_version"] != "2" || !logsIn(t, name, name, password) {
		t.Errorf("the database is not a new one, the record has version %s, or the password does not log in", after["record/metadata/current_version"])
	}

	// A record that is gone with its metadata has no owner any more.
	if _, err := p.Plane.OpenBao.Root().Logical().DeleteWithContext(t.Context(), openbao.Mount+"/metadata/"+path); err != nil {
		t.Fatal("cannot delete the record")
	}
	notReadyFor(t, openbaov1alpha1.ReasonDataLost, record)
	recordSelf.From = commonv1alpha1.AdoptionFromUnregistered
	adoptions(t, pg, bao, name, path, self, recordSelf)
	bothReady(t, record)
}

// A database of the same name that is another one, and a server that is another one, are not taken for the recorded ones.
func TestIdentityChanged(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	pg, _ := ownConfigs(t, ns)
	name := named(ns)
	password := passwordSecret(t, ns, "password")
	db := newDatabase(ns, "orders", name)
	db.Spec.ProviderConfigReference.Name = ns
	create(t, db)
	bothReady(t, db)

	identity := world(t, name, "none")["registry/database.server_identity"]
	inDatabase(t, registry, "UPDATE terdut_registry.object SET server_identity = '1' WHERE name = '"+name+"'")
	notReadyFor(t, postgresqlv1alpha1.ReasonIdentityChanged, db)
	inDatabase(t, registry, "UPDATE terdut_registry.object SET server_identity = '"+strings.Trim(identity, `"`)+"' WHERE name = '"+name+"'")
	bothReady(t, db)

	sql(t, "DROP DATABASE "+ident(name)+" WITH (FORCE)", "CREATE DATABASE "+ident(name)+" OWNER "+ident(name))
	inDatabase(t, name, "CREATE TABLE theirs AS SELECT 7 AS n")
	notReadyFor(t, postgresqlv1alpha1.ReasonIdentityChanged, db)
	passes(t, databases, 2)
	notReadyFor(t, postgresqlv1alpha1.ReasonIdentityChanged, db)
	if n := count(t, superuser(t, "postgres"), `SELECT count(*) FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
		WHERE d.datname = $1 AND a.grantee = 0 AND a.privilege_type = 'CONNECT'`, name); n != 1 {
		t.Error("another database of the same name was written to")
	}
	allow(t, pg, func(pc *postgresqlv1alpha1.ClusterProviderConfig) {
		pc.Spec.Adoptions = []postgresqlv1alpha1.Adoption{{Database: name, AdoptionTarget: commonv1alpha1.AdoptionTarget{From: string(db.UID), To: ns + "/orders"}}}
	})
	bothReady(t, db)
	if n := rowsIn(t, name, "SELECT n FROM theirs"); n != 7 || !logsIn(t, name, name, password) {
		t.Errorf("the table holds %d, or the password does not log in", n)
	}
}

// After a restore of the control plane every object has a new uid, and so has the control plane. What it recorded before is taken over by the
// objects of the same names once an admin names the old one.
func TestH22ControlPlaneRestored(t *testing.T) {
	t.Parallel()
	ns, other := namespace(t), namespace(t)
	pg, bao := ownConfigs(t, ns)
	name, path, old := named(ns), "restored/"+ns, "old-"+ns
	password := passwordSecret(t, ns, "password")
	passwordSecret(t, other, "password")
	db, record := ownPair(ns, "orders", ns, name, path)
	create(t, db)
	create(t, record)
	bothReady(t, db, record)
	// What another control plane recorded, where the same objects had other uids. The status is not part of a backup.
	inDatabase(t, registry, fmt.Sprintf("UPDATE terdut_registry.object SET control_plane = '%s', owner_uid = 'old-uid', holder = 'old-uid' WHERE name = '%s'", old, name))
	tags, _ := kvMetadata(t, path)["custom_metadata"].(map[string]any)
	plane := tags["terdut-control-plane"]
	tags["terdut-control-plane"], tags["terdut-owner-uid"], tags["terdut-holder"] = old, "old-uid", "old-uid"
	kvWrite(t, "metadata", path, map[string]any{"custom_metadata": tags})
	before := world(t, name, path)

	elsewhere, recordElsewhere := ownPair(other, "orders", ns, name, path)
	create(t, elsewhere)
	create(t, recordElsewhere)
	notReadyFor(t, postgresqlv1alpha1.ReasonConflict, db, record, elsewhere, recordElsewhere)
	consent := func(from string) {
		t.Helper()
		allow(t, pg, func(pc *postgresqlv1alpha1.ClusterProviderConfig) {
			pc.Spec.ControlPlanes = []commonv1alpha1.ControlPlaneAdoption{{From: from}}
		})
		allow(t, bao, func(pc *openbaov1alpha1.ClusterProviderConfig) {
			pc.Spec.ControlPlanes = []commonv1alpha1.ControlPlaneAdoption{{From: from}}
		})
	}
	consent("another")
	passes(t, databases, 2)
	passes(t, credentials, 2)
	notReadyFor(t, postgresqlv1alpha1.ReasonConflict, db, record)
	if diff := before.changes(world(t, name, path)); len(diff) > 0 {
		t.Errorf("without an admin's consent, these changed: %q", diff)
	}
	consent(old)
	bothReady(t, db, record)
	after := world(t, name, path)
	same(t, "after the restore", before, after, "database/oid", "role/oid", "role/rolpassword", "record/data/data", "record/metadata/versions")
	if after["registry/database.owner_uid"] != `"`+string(db.UID)+`"` || !strings.Contains(after["record/metadata/custom_metadata"], fmt.Sprint(plane)) {
		t.Error("the records do not name the new control plane's objects")
	}
	notReadyFor(t, postgresqlv1alpha1.ReasonConflict, elsewhere, recordElsewhere)
	if !logsIn(t, name, name, password) {
		t.Error("the password does not log in")
	}
}
