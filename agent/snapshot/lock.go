package snapshot

import (
	"context"
	"time"

	"jp/internal/action"
)

// holdNotice is how long jp waits for the right to change files before it tells the user.
const holdNotice = 300 * time.Millisecond

// Hold takes the right to change files.
func (f *Files) Hold(ctx context.Context) (func(), error) {
	if f.Tree == nil {
		return func() {}, nil
	}
	soon, cancel := context.WithTimeout(ctx, holdNotice)
	defer cancel()
	release, err := f.Tree.LockMutation(soon)
	if err != nil && soon.Err() != nil && ctx.Err() == nil {
		f.Tell("Another jp changes files in this working tree; waiting for it. " + action.Doctor.String() + " names its process.")
		release, err = f.Tree.LockMutation(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return release, err
}
