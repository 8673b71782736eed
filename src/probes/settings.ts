/** Service-account key of Google Cloud, as its JSON file has it. */
export interface GoogleCredentials {
  client_email: string
  private_key: string
  /** Where access tokens are asked for. */
  token_uri: string
}

/** Where the providers are that probes ask, and what they are asked with; null = not set up. The same for all probes. */
export interface ProbeSettings {
  /** Host of `gtm.js`, without a slash at its end. */
  tagManagerBaseUrl: string
  tagManagerApiUrl: string
  googleCredentials: GoogleCredentials | null
  warehouseApiUrl: string
  hostingAApiUrl: string
  hostingAToken: string | null
  /** With `{container_id}` in it. */
  hostingBStatusUrl: string | null
  hostingBToken: string | null
}
