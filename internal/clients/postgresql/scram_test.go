package postgresql

import (
	"encoding/base64"
	"testing"
)

func TestVerifierVector(t *testing.T) {
	// Password and salt of the example exchange in RFC 7677, section 3. The keys were computed from it with an independent implementation.
	salt, err := base64.StdEncoding.DecodeString("W22ZaJ0SNY7soEsUEjb6gQ==")
	must(t, "salt", err)
	got, err := verifierWith("pencil", salt)
	must(t, "verifierWith", err)
	want := "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
	if got != want {
		t.Error("the verifier of the RFC's example is not as computed elsewhere")
	}
}

// TestVerifierLogsIn compares our verifiers with the server's own: both have to accept the same password from a client.
func TestVerifierLogsIn(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		passwords := map[string]string{
			"ASCII":      "correct horse battery staple",
			"Hostile":    hostile,
			"Spaces":     "  leading and trailing  ",
			"Umlaut":     "pässwörd",
			"Decomposed": "pa\u0308sswort",
			"Ligature":   "e\ufb03cient",
			"NoBreak":    "a\u00a0b",
			"Unassigned": "emoji \U0001f600",
			"Bidi":       "a\u0627b",
			"Control":    "tab\tnewline\n",
			"Long":       longName(200),
		}
		for name, password := range passwords {
			t.Run(name, func(t *testing.T) {
				ctx := testContext(t)
				i := open(t, pg.managers[supers])
				c := claim("scram " + name)
				login := func(what string) {
					t.Helper()
					if err := i.CheckLogin(ctx, c.Role, password, "postgres"); err != nil {
						t.Errorf("%s does not accept the password", what)
					}
				}
				_, err := i.Reserve(ctx, c)
				must(t, "Reserve", err)
				_, err = i.EnsureRole(ctx, c, RoleSpec{ConnectionLimit: -1, Password: password})
				must(t, "EnsureRole", err)
				login("our verifier")
				pg.super(t, "postgres", "ALTER ROLE "+ident(c.Role)+" PASSWORD "+literal(password))
				login("the server's own verifier")
				must(t, "remove", remove(ctx, i, c))
			})
		}
	})
}

// TestH11EmptyPassword: what is empty or only white space never becomes a role's password.
func TestH11EmptyPassword(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		c := claim("empty password")
		for _, p := range []string{"", " ", "\n", "\t \r\n", "\u00a0"} {
			if _, err := i.Reserve(ctx, c); err != nil {
				t.Fatal(err)
			}
			if _, err := i.EnsureRole(ctx, c, RoleSpec{ConnectionLimit: -1, Password: p}); !IsInvalidPassword(err) {
				t.Errorf("creating with an empty password: %v", err)
			}
		}
		must(t, "ensure", ensure(ctx, i, c, hostile))
		for _, p := range []string{" ", "\n", "\t \r\n", "latin1 \xe9", "a\x00b"} {
			if _, err := i.EnsureRole(ctx, c, RoleSpec{ConnectionLimit: -1, Password: p}); !IsInvalidPassword(err) {
				t.Errorf("changing to an empty password: %v", err)
			}
		}
		_, err := i.EnsureRole(ctx, c, anyRole)
		must(t, "EnsureRole", err)
		must(t, "the old password", i.CheckLogin(ctx, c.Role, hostile, c.Database))
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestH10Rotation: the password follows, failing steps leave one that works, and the record is only what was proven.
func TestH10Rotation(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		c := claim("rotation")
		must(t, "ensure", ensure(ctx, i, c, "first"))

		broken := open(t, pg.managers[admins], failing(OpCommit))
		if _, err := broken.EnsureRole(ctx, c, RoleSpec{ConnectionLimit: -1, Password: "second"}); err == nil {
			t.Error("a failed commit was not reported")
		}
		must(t, "old password after a failed commit", i.CheckLogin(ctx, c.Role, "first", c.Database))

		_, err := i.EnsureRole(ctx, c, RoleSpec{ConnectionLimit: -1, Password: "second"})
		must(t, "EnsureRole", err)
		must(t, "new password", i.CheckLogin(ctx, c.Role, "second", c.Database))
		if err := i.CheckLogin(ctx, c.Role, "first", c.Database); !IsLoginRejected(err) {
			t.Errorf("the old password: %v", err)
		}
		f, err := i.Observe(ctx, c.Names)
		must(t, "Observe", err)
		if f.RoleRecord.CredentialVersion != "1" {
			t.Errorf("version %q was recorded without a proof", f.RoleRecord.CredentialVersion)
		}
		must(t, "RecordCredential", i.RecordCredential(ctx, c, "2"))
		f, err = i.Observe(ctx, c.Names)
		must(t, "Observe", err)
		if f.RoleRecord.CredentialVersion != "2" {
			t.Errorf("version %q is recorded, want 2", f.RoleRecord.CredentialVersion)
		}
		must(t, "remove", remove(ctx, i, c))
	})
}
