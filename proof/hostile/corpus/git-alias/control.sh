git st
