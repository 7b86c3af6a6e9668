// Package usage sums up model calls, by the events of conversations: tokens, the part that came from a
// provider's cache, the cost, and the cause of a missed cache. It keeps the sums in <git dir>/jp/usage,
// which can be deleted. It ends a turn or a day at the user's limits of cost.
package usage
