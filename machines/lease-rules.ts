/** Rules of leases: the times by which the nodes of a place elect and keep their leader. */

export interface LeaseRules {
  readonly leaseMs: number;
  readonly leaseRenewMs: number;
  readonly leaseMarginMs: number;
  readonly leaseJitterMs: number;
}
