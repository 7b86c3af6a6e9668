package main

import "errors"

var (
	errHangs  = errors.New("it does not end")
	errUnsafe = errors.New("an attack came to something")
	errNoTest = errors.New("a control did not show that its attack works")
)
