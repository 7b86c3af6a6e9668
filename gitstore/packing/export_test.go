package packing

// Growth is growth.
const Growth = growth

// TooMany is how many of the packs with these numbers of objects have to become one.
func TooMany(objects []int) int {
	var packs []made
	for _, n := range objects {
		packs = append(packs, made{Objects: n})
	}
	return len(tooMany(packs))
}
