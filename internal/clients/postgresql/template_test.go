package postgresql

import (
	"sync"
	"testing"
)

// TestTemplates: only what is marked as a template is copied, and a database that its owner marked as one can be dropped all the same.
func TestTemplates(t *testing.T) {
	each(t, ends, func(t *testing.T, pg *testServer, manager string, cfg Config) {
		ctx := testContext(t)
		i := open(t, cfg)
		theirs := claim("copied " + manager)
		must(t, "ensure", ensure(ctx, i, theirs, hostile))

		c := claim("copy " + manager)
		_, err := i.Reserve(ctx, c)
		must(t, "reserve", err)
		_, err = i.EnsureRole(ctx, c, RoleSpec{ConnectionLimit: -1, Password: hostile})
		must(t, "role", err)
		if _, err := i.EnsureDatabase(ctx, c, DatabaseSpec{Template: theirs.Database, ConnectionLimit: -1}); !IsUnsupported(err) {
			t.Errorf("want a database of somebody else's to be refused as a template, got %v", err)
		}
		if n := ask[int](t, pg, "postgres", "SELECT count(*) FROM pg_database WHERE datname = $1", c.Database); n != 0 {
			t.Error("a database of somebody else's was copied")
		}
		must(t, "remove", remove(ctx, i, c))

		pg.super(t, "postgres", "ALTER DATABASE "+ident(theirs.Database)+" IS_TEMPLATE true")
		must(t, "remove", remove(ctx, i, theirs))
		if n := pg.exists(t, registryOf(cfg), theirs.Database); n != 0 {
			t.Errorf("%d things are left", n)
		}
	})
}

// TestOneRoleOfTwo: of two claims on one role for different databases one wins, and the record says which.
func TestOneRoleOfTwo(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		cfg := pg.managers[admins]
		i := open(t, cfg)
		claims := [2]Claim{claim("role of two a"), claim("role of two b")}
		for n := range claims {
			claims[n].Role = "role of two"
		}
		var wg sync.WaitGroup
		var errs [2]error
		for n := range claims {
			wg.Go(func() { errs[n] = ensure(ctx, i, claims[n], hostile) })
		}
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("want one winner, got %v and %v", errs[0], errs[1])
		}
		winner, loser := 0, 1
		if errs[0] != nil {
			winner, loser = 1, 0
		}
		if !IsConflict(errs[loser]) {
			t.Errorf("want the loser to be in conflict, got %v", errs[loser])
		}
		if got := ask[string](t, pg, registryOf(cfg), "SELECT owner_uid FROM "+registryTable+" WHERE kind = 'role' AND name = 'role of two'"); got != claims[winner].Owner.UID {
			t.Error("the record of the role is not the winner's")
		}
		must(t, "remove", remove(ctx, i, claims[winner]))
	})
}
