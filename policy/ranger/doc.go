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
//
// Where this package is stricter than Ranger, or differs:
//
//   - Empty values, unknown access types (letter case counts), items for nobody
//     or without an access, levels that do not reach the column, ids that occur
//     twice, unreadable schedules and unknown time zones are errors when loading.
//   - A policy of a tag applies to a tag of exactly the name (or pattern) it
//     gives. A resource of two security zones is closed.
//   - Recurring schedules open at every instant that fits; Ranger loses windows
//     that run over midnight when only the hour is given.
//   - Values of ${{..}} are put in as values, never as SQL, and a missing
//     attribute closes instead of being empty text.
//   - A mask that reads other columns of the table names them as SQL does; a name
//     that is not there, or fits several columns, closes the masked one.
//   - Shared data sets (GDS) and conditions on the client's address are not
//     evaluated; the former come in files of their own and are not looked at.
//
// The order of policies is that of Ranger's trie, which is its default:
// priority, policies that deny, the broader policy, the name. It follows the
// releases since tag policies are asked first and a decision of equal priority
// stands.
package ranger
