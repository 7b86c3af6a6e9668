cat out/secret
