/** The hash of a client's page that opens with the form of a new channel. */
export const ADD_CHANNEL = 'add-channel'
