// Virtual calls: single, multiple and virtual inheritance, pointers to members, dynamic_cast, typeid.
#include <cstdio>
#include <memory>
#include <typeinfo>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual long area() const = 0;
    virtual const char *name() const { return "shape"; }
};
struct Square : Shape {
    long side;
    explicit Square(long s) : side(s) {}
    long area() const override { return side * side; }
    const char *name() const override { return "square"; }
};
struct Named {
    virtual ~Named() = default;
    virtual int id() const { return 1; }
    long padding = 9;
};
struct Rectangle : Named, Shape {
    long a, b;
    Rectangle(long x, long y) : a(x), b(y) {}
    long area() const override { return a * b; }
    int id() const override { return 2; }
};
struct Base {
    long value = 3;
    virtual ~Base() = default;
    virtual long get() const { return value; }
};
struct Left : virtual Base {
    long get() const override { return value + 10; }
};
struct Right : virtual Base {};
struct Bottom : Left, Right {};

int main()
{
    std::vector<std::unique_ptr<Shape>> shapes;
    for (long i = 0; i < 1000; i++) {
        if (i % 3)
            shapes.push_back(std::make_unique<Square>(i));
        else
            shapes.push_back(std::make_unique<Rectangle>(i, 7));
    }
    long total = 0, ids = 0;
    for (int round = 0; round < 50; round++)
        for (auto &shape : shapes) {
            total += shape->area() + shape->name()[0];
            if (auto *named = dynamic_cast<Named *>(shape.get())) ids += named->id();
        }
    long (Shape::*member)() const = &Shape::area;
    Bottom bottom;
    Right &right = bottom;
    std::printf("%ld %ld %ld %ld %d\n", total, ids, (shapes[1].get()->*member)(), right.get(),
                typeid(*shapes[0]) == typeid(Rectangle));
}
