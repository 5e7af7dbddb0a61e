export { environmentNamesShape, limitOptionShapes, toolsShape } from './option-shapes.ts'
export { refuseNetworkList } from './no-network-list.ts'
