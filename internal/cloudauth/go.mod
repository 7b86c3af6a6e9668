module cloud.google.com/go/auth

go 1.26.0
