// What the player takes of three.js 0.187. `npm install three esbuild`, then
// npx esbuild three_subset.js --bundle --minify --format=iife --global-name=THREE --legal-comments=inline --outfile=three.min.js
// makes three.min.js (MIT licence: three.LICENSE.txt): one plain script, so that pages work when they are opened as files.
export {
  AmbientLight, BoxGeometry, CapsuleGeometry, Color, CylinderGeometry, DirectionalLight, GridHelper, Group, Mesh,
  MeshBasicMaterial, MeshLambertMaterial, PerspectiveCamera, PlaneGeometry, Quaternion, Scene, SphereGeometry, Vector3, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/addons/controls/OrbitControls.js";
