// Package vendortest is a server on loopback that speaks the APIs of the model
// vendors, for tests that run a whole jp.
//
// An answer of the server is written once, as a [Reply], and rendered in the format of the API of the
// request. Every request is judged the moment it comes in: its body by package wirecheck, its headers by the
// allowed places of keys. A mistake fails the test.
//
// The package knows the formats from their public descriptions and is independent of the providers' code, so
// that a mistake is not made twice. It answers strictly in the order of its script: an unexpected request
// fails the test.
package vendortest
