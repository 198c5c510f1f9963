package postgresql

import "context"

// A Claim is somebody's wish for a database and a role. Every operation that writes takes one and checks it against the registry.
type Claim struct {
	Names
	Owner Owner
	// DeletionPolicy that is recorded, for people who look at the registry.
	DeletionPolicy string
	// Consents of the admin. Only Reserve acts on them.
	Consents Consents
}

// Reserve records both names for the owner, or takes them over where an admin consents. It is one transaction: both or none. A claim
// that is reserved already is brought up to date. Errors: ConflictError, DataLostError, IdentityChangedError.
func (i *Instance) Reserve(ctx context.Context, c Claim) (*Facts, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if err := i.EnsureRegistry(ctx); err != nil {
		return nil, err
	}
	var f *Facts
	err := i.with(ctx, management, i.cfg.RegistryDatabase, func(s *session) error {
		return s.inTx(ctx, c.Database, func() error {
			// Both names, and always in this order: another claim may want the same role for another database. No name has a NUL in it.
			for _, name := range []string{c.Database, "\x00role " + c.Role} {
				var ignored any
				if _, err := s.row(ctx, OpLock, c.Database, "SELECT pg_advisory_xact_lock($1)::text", []any{lockKey(name)}, &ignored); err != nil {
					return err
				}
			}
			var err error
			if f, err = s.facts(ctx, c.Names, true); err != nil {
				return err
			}
			if err := f.Preflight(c.Owner, c.Consents); err != nil {
				return err
			}
			var roleOID, databaseOID uint32
			if f.Role != nil {
				roleOID = f.Role.OID
			}
			if f.Database != nil {
				databaseOID = f.Database.OID
			}
			rd, dd := f.DecideRole(c.Owner, c.Consents), f.DecideDatabase(c.Owner, c.Consents)
			if f.RoleRecord, err = s.reserve(ctx, c, KindRole, c.Role, f.RoleRecord, roleOID, rd); err != nil {
				return err
			}
			f.DatabaseRecord, err = s.reserve(ctx, c, KindDatabase, c.Database, f.DatabaseRecord, databaseOID, dd)
			return err
		})
	})
	i.registryLost(err)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// reserve one object that the decision lets us have.
func (s *session) reserve(ctx context.Context, c Claim, k Kind, name string, old *Record, oid uint32, d Decision) (*Record, error) {
	r := Record{Kind: k, Name: name, ServerIdentity: s.identity, State: StateReserved}
	if old != nil {
		r = *old
	}
	r.Owner, r.DeletionPolicy = c.Owner, c.DeletionPolicy
	switch {
	case oid == 0:
		// Nothing there: whoever makes it records it.
		r.State, r.OID, r.CredentialVersion = StateReserved, 0, ""
	case d.Verdict == Adoptable || d.Condition == Replaced:
		// It is ours from now on, but nobody has logged in to it on our behalf.
		r.State, r.OID, r.CredentialVersion = StateCreated, oid, ""
	case r.OID != 0:
		r.State = StateCreated
	}
	if oid == 0 || r.ServerIdentity == "" || d.Condition == Replaced || d.Verdict == Adoptable {
		r.ServerIdentity = s.identity
	}
	if old != nil && r == *old {
		return old, nil
	}
	return &r, s.put(ctx, OpReserve, r)
}

// Retain marks both records as let go of and kept. Objects and records stay; a record for which nothing was made is removed, because it
// would keep nothing but the name from others. What is not the owner's is not touched.
func (i *Instance) Retain(ctx context.Context, c Claim) error {
	if err := c.validate(); err != nil {
		return err
	}
	return i.with(ctx, management, i.cfg.RegistryDatabase, func(s *session) error {
		return s.inTx(ctx, c.Database, func() error {
			f, err := s.facts(ctx, c.Names, true)
			if err != nil {
				return err
			}
			for _, r := range f.recordsOf(c.Owner) {
				// A database that was created may not be recorded yet. A role is recorded in the transaction that creates it.
				if r.OID == 0 && (r.Kind == KindRole || f.Database == nil) {
					err = s.forget(ctx, r)
				} else if r.State != StateRetained {
					n := *r
					n.State = StateRetained
					err = s.put(ctx, OpRecord, n)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// RecordCredential records the version of a credential after a login with it was proven. The version is any text that is not secret.
func (i *Instance) RecordCredential(ctx context.Context, c Claim, version string) error {
	return i.update(ctx, c, func(r *Record) {
		if r.Kind == KindRole {
			r.CredentialVersion = version
		}
	})
}

// update those records that are the owner's.
func (i *Instance) update(ctx context.Context, c Claim, change func(*Record)) error {
	if err := c.validate(); err != nil {
		return err
	}
	return i.with(ctx, management, i.cfg.RegistryDatabase, func(s *session) error {
		return s.inTx(ctx, c.Database, func() error {
			f := &Facts{names: c.Names}
			if err := s.records(ctx, f, true); err != nil {
				return err
			}
			for _, r := range f.recordsOf(c.Owner) {
				n := *r
				change(&n)
				if n == *r {
					continue
				}
				if err := s.put(ctx, OpRecord, n); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// recordsOf an owner.
func (f *Facts) recordsOf(o Owner) []*Record {
	var out []*Record
	for _, r := range []*Record{f.RoleRecord, f.DatabaseRecord} {
		if r != nil && r.Owner.UID == o.UID && r.Owner.ControlPlane == o.ControlPlane {
			out = append(out, r)
		}
	}
	return out
}

// registryLost makes the next Reserve set up the registry anew when it turned out to be gone.
func (i *Instance) registryLost(err error) {
	if !hasCode(err, "3D000", "42P01", "3F000") {
		return
	}
	i.mu.Lock()
	i.registry = false
	i.mu.Unlock()
}
