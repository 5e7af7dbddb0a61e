export { addressesIn, addressesShape, normalAddress } from './address.ts'
export { connectTimeout, dial, type Dialled } from './dial.ts'
export { hosts } from './hosts/presets.ts'
export { type AddressCheck, type DialProblem, type Resolve, systemResolve } from './resolve.ts'
