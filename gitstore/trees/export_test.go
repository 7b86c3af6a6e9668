package trees

// SetBound sets how many names one comparison of a Reader may have.
func SetBound(r Reader, most int) { r.(*reader).most = budget(most) }
