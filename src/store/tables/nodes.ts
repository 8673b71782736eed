/** A process that runs on this database, or did until lately. */
export interface NodeTable {
  id: string
  /** For people: host name and process id. */
  name: string
  role: string
  version: string
  started_at: number
  /** Its last heartbeat. A node that has not been seen for a while is dead: its work is anybody's. */
  seen_at: number
}

/** A piece of work that one node at a time does. It is that node's for as long as the node lives. */
export interface LeaseTable {
  name: string
  node_id: string
  claimed_at: number
}

/** Requests that a node gets of a client whose rate is limited: what the limit is shared out by. */
export interface ClientDemandTable {
  client_id: string
  node_id: string
  measured_at: number
  /** Arrivals, refused ones included. */
  requests_per_second: number
}
