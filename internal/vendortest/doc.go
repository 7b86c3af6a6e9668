// Package vendortest is a server on loopback that speaks the APIs of the model
// vendors, for tests that run a whole jp.
//
// What the server says is written once, as a [Reply], and rendered in the
// format of whichever API is asked. Every request is judged the moment it comes
// in: its body by package wirecheck, its headers by where keys may stand. What
// is wrong fails the test.
//
// The package knows the formats from their public descriptions and imports
// nothing of the providers, so that a mistake is not made twice. It answers in
// the order of its script and invents nothing: a request that the script does
// not expect fails the test.
package vendortest
