// Package ranger decides by Apache Ranger's policies: which columns of a table
// a user sees masked and how, and which rows. It reads the policy cache or
// download body (ServicePolicies), an admin list or export, or a bare array of
// policies, with roles, user attributes and tags beside them, and implements
// policy.Rules.
//
// It answers as Ranger's own engine does wherever that answer is certain.
// Where Ranger goes on with less (an unknown condition is ignored, an unknown
// mask type leaves the column clear, a script that fails is empty text), it
// closes instead:
//
//   - a malformed policy refuses the file: Load returns an error that names the
//     policies, and the snapshot in use stays;
//   - a policy that is well formed but cannot be evaluated exactly (a script
//     beyond the small language of expressions, an unknown condition or mask
//     type, a missing user attribute) closes what it applies to: Decide returns
//     an error wrapping policy.ErrClosed that names the policy and the column.
//
// Access is not decided here: a user who may not read a table at all must have
// been turned away before.
package ranger
