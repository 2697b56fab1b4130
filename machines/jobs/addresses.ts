/**
 * Addresses of the actors of the jobs system: every one is made here and nowhere else.
 *
 * A datacenter, a gate, a worker and a client are places; the actors of a datacenter all live at
 * the place of its name, whichever manager leads.
 */

/** Ids of jobs, workflows and workers; a worker's id is its place too. */
export const ID_PATTERN = /^[A-Za-z0-9._:-]{1,128}$/;

export const jobAddress = (jobId: string, datacenter: string): `job/${string}` =>
  `job/${jobId}@${datacenter}`;

export const workflowAddress = (
  jobId: string,
  workflowId: string,
  datacenter: string,
): `workflow/${string}` => `workflow/${jobId}/${workflowId}@${datacenter}`;

export const workerHealthAddress = (
  workerId: string,
  datacenter: string,
): `worker-health/${string}` => `worker-health/${workerId}@${datacenter}`;

export const workerPoolAddress = (datacenter: string): `worker-pool/${string}` =>
  `worker-pool/main@${datacenter}`;

export const gateJobAddress = (jobId: string, gateId: string): `gate-job/${string}` =>
  `gate-job/${jobId}@${gateId}`;

/** Address of the jobs service, where clients ask: one in each datacenter and at each gate. */
export const jobsServiceAddress = (place: string): `desk/${string}` => `desk/main@${place}`;

/** The n-th part of a submission at a gate, first is 1; the digest keeps another body of the same id apart. */
export const submissionPartAddress = (jobId: string, digest: string, page: number): string =>
  `submission-page/${jobId}/${digest.slice(0, 16)}/${page}`;

/** A worker that starts again is somebody else: nothing meant for the one before reaches it. */
export const workerAddress = (workerId: string, bootEpoch: number): `worker/${string}` =>
  `worker/${bootEpoch}@${workerId}`;

/** The n-th run of a workflow, first is 1. */
export const attemptIdOf = (workflowId: string, run: number): string => `${workflowId}#${run}`;

export const workflowIdOf = (attemptId: string): string =>
  attemptId.slice(0, attemptId.lastIndexOf('#'));

/** An attempt's name across jobs: what a worker extends, and what `worker-health` counts by. */
export const operationIdOf = (jobId: string, attemptId: string): string => `${jobId}/${attemptId}`;

export const operationParts = (operationId: string): { jobId: string; attemptId: string } => {
  const slash = operationId.indexOf('/');
  return { jobId: operationId.slice(0, slash), attemptId: operationId.slice(slash + 1) };
};

/** Address of an attempt on its worker. */
export const attemptAddress = (
  jobId: string,
  attemptId: string,
  workerId: string,
): `attempt/${string}` => `attempt/${jobId}/${attemptId.replace('#', '/')}@${workerId}`;

/** Id in a whole address: what stands between its kind and its place. */
export const idOf = (address: string): string =>
  address.slice(address.indexOf('/') + 1, address.lastIndexOf('@'));

/** Place in a whole address. */
export const placeOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);
