package postgresql

import "context"

// CheckLogin proves that a user name and password log in to a database: it logs in with SCRAM-SHA-256, runs SELECT 1 and closes the
// session. A nil error is the proof. Errors: IsLoginRejected when the server refuses the pair, IsUntrusted when it asks for another
// authentication, IsInvalidPassword as ValidatePassword, IsNotFound, IsInsufficientPrivilege, IsTooManyConnections, IsUnreachable.
func (i *Instance) CheckLogin(ctx context.Context, username, password, database string) error {
	if err := ValidateName("role", username); err != nil {
		return err
	}
	if err := ValidateName("database", database); err != nil {
		return err
	}
	if err := ValidatePassword(password); err != nil {
		return err
	}
	s, err := i.acquire(ctx, login, username, password, database)
	if err != nil {
		return err
	}
	defer i.release(s)
	var one int
	_, err = s.row(ctx, OpLogin, database, "SELECT 1", nil, &one)
	return err
}
