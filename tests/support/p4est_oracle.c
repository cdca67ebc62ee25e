/* Makes a random forest of bricks with p4est and saves it, balances it across faces and saves it
 * again, and writes what lies beyond each face of its leaves: quad_to_quad, quad_to_face and the
 * four finer leaves, 32 bits each.
 *
 *   p4est_oracle FOLDER SEED NX NY NZ PERIODIC_X PERIODIC_Y PERIODIC_Z SHUFFLED DATA
 */
#include <p8est_bits.h>
#include <p8est_extended.h>
#include <p8est_mesh.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEEPEST = 5, FACES = 6, FINER = 4 };

static int wanted(p8est_t* forest, p4est_topidx_t tree, p8est_quadrant_t* leaf) {
  /* Deep along a chain of leaves, and here and there. */
  const int middle = tree == forest->connectivity->num_trees / 2;
  const int deep = middle && (leaf->level == 0 || p8est_quadrant_child_id(leaf) == rand() % 2);
  return leaf->level < DEEPEST && (deep || rand() % 100 < 12);
}

static char* name(const char* folder, const char* file) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  return path;
}

static void shuffle(p8est_connectivity_t* trees) {
  sc_array_t* order = sc_array_new_count(sizeof(size_t), trees->num_trees);
  for (size_t n = 0; n < order->elem_count; ++n) {
    size_t *at = sc_array_index(order, n), *other = sc_array_index(order, rand() % (n + 1));
    *at = *other;
    *other = n;
  }
  p8est_connectivity_permute(trees, order, 1);
  sc_array_destroy(order);
}

static void write_faces(p8est_t* forest, const char* path) {
  p8est_ghost_t* ghost = p8est_ghost_new(forest, P8EST_CONNECT_FACE);
  p8est_mesh_t* mesh = p8est_mesh_new(forest, ghost, P8EST_CONNECT_FACE);
  FILE* file = fopen(path, "wb");
  for (int n = 0; n < FACES * mesh->local_num_quadrants; ++n) {
    int row[2 + FINER] = {mesh->quad_to_quad[n], mesh->quad_to_face[n], -1, -1, -1, -1};
    if (row[1] < 0)
      memcpy(row + 2, sc_array_index(mesh->quad_to_half, row[0]), FINER * sizeof(int));
    fwrite(row, sizeof row, 1, file);
  }
  fclose(file);
  p8est_mesh_destroy(mesh);
  p8est_ghost_destroy(ghost);
}

int main(int count, char** words) {
  int n[11];
  for (int i = 2; i < count && i < 11; ++i) n[i] = atoi(words[i]);
  if (count != 11) return 2;
  sc_MPI_Init(&count, &words);
  sc_init(sc_MPI_COMM_WORLD, 0, 0, NULL, SC_LP_SILENT);
  p4est_init(NULL, SC_LP_SILENT);
  srand(n[2]);
  p8est_connectivity_t* trees = p8est_connectivity_new_brick(n[3], n[4], n[5], n[6], n[7], n[8]);
  if (n[9]) shuffle(trees);
  p8est_t* forest = p8est_new_ext(sc_MPI_COMM_WORLD, trees, 0, 0, 1, n[10], NULL, NULL);
  p8est_refine(forest, 1, wanted, NULL);
  p8est_save(name(words[1], "forest.p8est"), forest, n[10] > 0);
  p8est_balance(forest, P8EST_CONNECT_FACE, NULL);
  p8est_save(name(words[1], "balanced.p8est"), forest, 0);
  write_faces(forest, name(words[1], "faces"));
  p8est_destroy(forest);
  p8est_connectivity_destroy(trees);
  sc_finalize();
  return sc_MPI_Finalize();
}
