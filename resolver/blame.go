package resolver

// constraint is one of the three things that narrow a choice.
type constraint uint8

// In the order in which they are blamed.
const (
	byEdges constraint = 1 << iota
	byVersion
	byChannels
)

// blame is why nothing qualifies in a catalog.
type blame struct {
	reason Reason
	// dropped are the constraints without which something would qualify, 0 when even a pair does not help.
	dropped constraint
}

// blame finds the constraint to blame for an evaluation that left nothing: by dropping them one at a time, then in
// pairs.
func (e *evaluation) blame() blame {
	if len(e.req.channels) > 0 && len(e.found) == 0 {
		return blame{reason: ChannelNotFound}
	}
	var have constraint
	if e.req.constrained() {
		have |= byEdges
	}
	if e.req.inRange != nil {
		have |= byVersion
	}
	if len(e.req.channels) > 0 {
		have |= byChannels
	}
	for _, drop := range []constraint{byEdges, byVersion, byChannels, byEdges | byVersion, byEdges | byChannels, byVersion | byChannels} {
		if drop&have == drop && e.choose(e.without(drop)) >= 0 {
			return blame{drop.reason(), drop}
		}
	}
	return blame{reason: NoMatchingBundle}
}

// without are the bits that a bundle needs when some constraints are dropped. Dropped channels are as if none were
// requested, so then the edges of all channels count.
func (e *evaluation) without(drop constraint) uint8 {
	bits := usable
	if drop&byVersion == 0 {
		bits |= inVersion
	}
	if drop&byChannels == 0 {
		bits |= inChannels
	}
	switch {
	case drop&byEdges != 0:
	case drop&byChannels != 0 && e.req.constrained():
		e.markReachable(reachableAny, false)
		bits |= reachableAny
	default:
		bits |= reachable
	}
	return bits
}

func (c constraint) reason() Reason {
	switch {
	case c&byEdges != 0:
		return NoUpgradePath
	case c&byVersion != 0:
		return NoMatchingVersion
	}
	return NoMatchingChannel
}
