/* The stiff problems of the benchmarks for CVODE (SUNDIALS 7), called from compiled code.
 *
 *     cvode-peer PROBLEM SOLVER N TOLERANCE ROUNDS
 *
 * PROBLEM  heat | ladder, the equations of bench/src/stiff.rs
 * SOLVER   band | klu: band matrix with CVODE's own difference quotients, or sparse matrix with exact Jacobian and KLU
 *
 * Prints one line "seconds steps evaluations jacobians factorizations", seconds being the median of ROUNDS integrations in
 * processor time, set-up included, then the state at the end, one number a line. Exit code 1 if an integration fails.
 */
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <time.h>

typedef struct {
  long n;
} Size;

static const double pi = 3.14159265358979323846;

/* Heat equation by the method of lines. */

static int heat(sunrealtype t, N_Vector y, N_Vector ydot, void *data) {
  (void)t;
  const long n = ((Size *)data)->n;
  const double *x = N_VGetArrayPointer(y);
  double *dx = N_VGetArrayPointer(ydot);
  const double scale = (n + 1.0) * (n + 1.0);
  double left = 0.0;
  for (long i = 0; i < n; i++) {
    const double right = i + 1 < n ? x[i + 1] : 0.0;
    dx[i] = scale * (left - 2.0 * x[i] + right);
    left = x[i];
  }
  return 0;
}

static void heat_derivative(long n, const double *x, long i, double out[3]) {
  (void)x;
  (void)i;
  const double scale = (n + 1.0) * (n + 1.0);
  out[0] = scale;
  out[1] = -2.0 * scale;
  out[2] = scale;
}

static void heat_start(long n, double *x) {
  for (long i = 0; i < n; i++) {
    const double z = (i + 1.0) / (n + 1.0);
    x[i] = sin(pi * z) + sin(3.0 * pi * z);
  }
}

/* Diode ladder: the constants of bench/src/stiff.rs. */

static const double vt = 0.04, saturation = 1e-6, exponent_max = 15.0, leakage = 1e-8;
static const double capacitance = 1e-6, conductance = 1e-5, frequency = 50.0;

static double diode(double u) {
  const double s = u / vt;
  const double e = exp(s < exponent_max ? s : exponent_max);
  const double beyond = s < exponent_max ? 0.0 : s - exponent_max;
  return saturation * (e * (1.0 + beyond) - 1.0) + leakage * u;
}

static double diode_slope(double u) {
  const double s = u / vt;
  return saturation / vt * exp(s < exponent_max ? s : exponent_max) + leakage;
}

static double source(long n, double t) { return (double)n * sin(2.0 * pi * frequency * t); }

static int ladder(sunrealtype t, N_Vector y, N_Vector ydot, void *data) {
  const long n = ((Size *)data)->n;
  const double *x = N_VGetArrayPointer(y);
  double *dx = N_VGetArrayPointer(ydot);
  double in = diode(source(n, t) - x[0]);
  for (long i = 0; i < n; i++) {
    const double out = i + 1 < n ? diode(x[i] - x[i + 1]) : 0.0;
    dx[i] = (in - out - conductance * x[i]) / capacitance;
    in = out;
  }
  return 0;
}

/* Column i of the Jacobian: derivatives i-1, i, i+1 with respect to x[i]. */
static double ladder_time;
static void ladder_derivative(long n, const double *x, long i, double out[3]) {
  const double before = diode_slope((i > 0 ? x[i - 1] : source(n, ladder_time)) - x[i]);
  const double after = i + 1 < n ? diode_slope(x[i] - x[i + 1]) : 0.0;
  out[0] = before / capacitance;
  out[1] = (-before - after - conductance) / capacitance;
  out[2] = after / capacitance;
}

static void ladder_start(long n, double *x) { memset(x, 0, n * sizeof *x); }

typedef struct {
  CVRhsFn f;
  void (*derivative)(long n, const double *x, long i, double out[3]);
  void (*start)(long n, double *x);
  double stop;
} Problem;

static Problem problem;

static int sparse_jacobian(sunrealtype t, N_Vector y, N_Vector fy, SUNMatrix J, void *data,
                           N_Vector t1, N_Vector t2, N_Vector t3) {
  (void)fy, (void)t1, (void)t2, (void)t3;
  const long n = ((Size *)data)->n;
  const double *x = N_VGetArrayPointer(y);
  sunindextype *columns = SUNSparseMatrix_IndexPointers(J);
  sunindextype *rows = SUNSparseMatrix_IndexValues(J);
  double *values = SUNSparseMatrix_Data(J);
  long k = 0;
  ladder_time = t;
  for (long i = 0; i < n; i++) {
    double d[3];
    problem.derivative(n, x, i, d);
    columns[i] = k;
    for (long j = -1; j <= 1; j++)
      if (i + j >= 0 && i + j < n) {
        rows[k] = i + j;
        values[k++] = d[j + 1];
      }
  }
  columns[n] = k;
  return 0;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void fail(const char *what) {
  fprintf(stderr, "cvode-peer: %s\n", what);
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 6) fail("usage: cvode-peer heat|ladder band|klu N TOLERANCE ROUNDS");
  const int is_heat = strcmp(argv[1], "heat") == 0, is_band = strcmp(argv[2], "band") == 0;
  Size size = {atol(argv[3])};
  const double tolerance = atof(argv[4]);
  const int rounds = atoi(argv[5]);
  problem = is_heat ? (Problem){heat, heat_derivative, heat_start, 0.1}
                    : (Problem){ladder, ladder_derivative, ladder_start, 0.04};
  double *times = malloc(rounds * sizeof *times);
  SUNContext context;
  if (SUNContext_Create(SUN_COMM_NULL, &context)) fail("no context");
  N_Vector y = N_VNew_Serial(size.n, context);
  long steps = 0, evaluations = 0, evaluations_jacobian = 0, jacobians = 0, setups = 0;
  for (int round = 0; round < rounds; round++) {
    const double begin = seconds();
    problem.start(size.n, N_VGetArrayPointer(y));
    void *cvode = CVodeCreate(CV_BDF, context);
    if (CVodeInit(cvode, problem.f, 0.0, y)) fail("no start");
    CVodeSStolerances(cvode, tolerance, tolerance);
    CVodeSetUserData(cvode, &size);
    CVodeSetMaxNumSteps(cvode, 10000000);
    CVodeSetStopTime(cvode, problem.stop);
    SUNMatrix matrix;
    SUNLinearSolver solver;
    if (is_band) {
      matrix = SUNBandMatrix(size.n, 1, 1, context);
      solver = SUNLinSol_Band(y, matrix, context);
    } else {
      matrix = SUNSparseMatrix(size.n, size.n, 3 * size.n, CSC_MAT, context);
      solver = SUNLinSol_KLU(y, matrix, context);
    }
    if (CVodeSetLinearSolver(cvode, solver, matrix)) fail("no linear solver");
    if (!is_band) CVodeSetJacFn(cvode, sparse_jacobian);
    double t = 0.0;
    if (CVode(cvode, problem.stop, y, &t, CV_NORMAL) < 0) fail("integration failed");
    CVodeGetNumSteps(cvode, &steps);
    CVodeGetNumRhsEvals(cvode, &evaluations);
    CVodeGetNumLinRhsEvals(cvode, &evaluations_jacobian);
    CVodeGetNumJacEvals(cvode, &jacobians);
    CVodeGetNumLinSolvSetups(cvode, &setups);
    SUNLinSolFree(solver);
    SUNMatDestroy(matrix);
    CVodeFree(&cvode);
    times[round] = seconds() - begin;
  }
  qsort(times, rounds, sizeof *times, compare);
  printf("%.9e %ld %ld %ld %ld\n", times[rounds / 2], steps, evaluations + evaluations_jacobian,
         jacobians, setups);
  const double *x = N_VGetArrayPointer(y);
  for (long i = 0; i < size.n; i++) printf("%.17g\n", x[i]);
  N_VDestroy(y);
  SUNContext_Free(&context);
  free(times);
  return 0;
}
