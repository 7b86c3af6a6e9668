package broken

var _ int = "not a number"
