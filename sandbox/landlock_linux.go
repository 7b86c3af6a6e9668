package sandbox

import landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"

// The rights of a grant on a file, and on a folder and all below it. No program may make a device.
const (
	readFile  = landlock.AccessFSReadFile | landlock.AccessFSExecute
	readAll   = readFile | landlock.AccessFSReadDir
	writeFile = readFile | landlock.AccessFSWriteFile | landlock.AccessFSTruncate
	writeAll  = readAll | writeFile | landlock.AccessFSRemoveDir | landlock.AccessFSRemoveFile | landlock.AccessFSMakeDir |
		landlock.AccessFSMakeReg | landlock.AccessFSMakeSock | landlock.AccessFSMakeFifo | landlock.AccessFSMakeSym | landlock.AccessFSRefer
	deviceFile = landlock.AccessFSReadFile | landlock.AccessFSWriteFile | landlock.AccessFSTruncate | landlock.AccessFSIoctlDev
	deviceAll  = deviceFile | landlock.AccessFSReadDir
)

func (a Access) rights(folder bool) uint64 {
	switch {
	case a == List && folder:
		return landlock.AccessFSReadDir
	case a == Read && folder:
		return readAll
	case a == Read:
		return readFile
	case a == Write && folder:
		return writeAll
	case a == Write:
		return writeFile
	case a == Device && folder:
		return deviceAll
	case a == Device:
		return deviceFile
	}
	return 0
}

// handled is all that a version of landlock can forbid, as far as these rules
// want it forbidden. A program in a network of its own may use that.
func (r Rules) handled(abi int, own bool) landlock.RulesetAttr {
	all := func(last uint64) uint64 { return last<<1 - 1 }
	attr := landlock.RulesetAttr{HandledAccessFS: all(landlock.AccessFSMakeSym)}
	add := func(since int, bits *uint64, rights uint64) {
		if abi >= since {
			*bits |= rights
		}
	}
	add(abiRefer, &attr.HandledAccessFS, landlock.AccessFSRefer)
	add(abiTruncate, &attr.HandledAccessFS, landlock.AccessFSTruncate)
	add(abiIoctl, &attr.HandledAccessFS, landlock.AccessFSIoctlDev)
	add(abiScope, &attr.Scoped, landlock.ScopeSignal)
	if r.Network {
		return attr
	}
	add(abiScope, &attr.Scoped, landlock.ScopeAbstractUnixSocket)
	add(abiUnix, &attr.HandledAccessFS, landlock.AccessFSResolveUnix)
	if own {
		return attr
	}
	add(abiTCP, &attr.HandledAccessNet, landlock.AccessNetBindTCP|landlock.AccessNetConnectTCP)
	add(abiUDP, &attr.HandledAccessNet, landlock.AccessNetBindUDP|landlock.AccessNetConnectSendUDP)
	return attr
}
