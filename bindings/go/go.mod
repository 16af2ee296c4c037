module github.com/quorate/quorate/bindings/go

go 1.24
