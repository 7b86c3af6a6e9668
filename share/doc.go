// Package share carries conversations to another repository by git, and back.
//
// A push goes to one remote that the user named, at a URL that the user agreed to. Everything that would leave is
// searched before. No ref is forced, here or there. A fetch writes below refs/jp/remotes only; a conversation that
// the user's own key vouches for goes on from there under its id.
package share
