// gcc compiles, assembles and links this file, with all its parts under the tool.
//@ needs: gcc
//@ follow: yes
//@ run compile: gcc -O2 -g -c {file} -o gcc.o
//@ run assembly: gcc -O3 -S -march=x86-64-v3 {file} -o gcc.s
//@ run link: gcc -O1 {file} -o program -lm
//@ run preprocess: gcc -E -P -dM {file}
//@ run driver: gcc -pipe -O0 -Wall {file} -fsyntax-only
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { struct node *left, *right; double key; };

static struct node *insert(struct node *n, double key)
{
    if (!n) {
        n = calloc(1, sizeof *n);
        n->key = key;
    } else if (key < n->key)
        n->left = insert(n->left, key);
    else
        n->right = insert(n->right, key);
    return n;
}

static double sum(const struct node *n) { return n ? n->key + sum(n->left) + sum(n->right) : 0; }

int main(void)
{
    struct node *root = NULL;
    double a[64][64] = {{0}}, trace = 0;
    for (int i = 0; i < 1000; i++) root = insert(root, fmod(i * 0.618, 1));
    for (int i = 0; i < 64; i++)
        for (int k = 0; k < 64; k++) a[i][k] = sin(i) * cos(k);
    for (int i = 0; i < 64; i++) trace += a[i][i];
    switch ((int)trace) {
    case 1: puts("one"); break;
    case 2: puts("two"); break;
    default: printf("%f %f\n", sum(root), trace);
    }
    return strcmp("a", "b") > 0;
}
